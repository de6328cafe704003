import type { TakeoverFacts } from './facts.ts'
import type { Finding } from './plan.ts'

type Values = { [Name in keyof TakeoverFacts]: Extract<TakeoverFacts[Name], { value: unknown }>['value'] }

/** The value of a fact; undefined if it was not read. */
export function valueOf<T>(fact: { value: T } | { unread: string }): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/** The values of these facts; undefined if one of them was not read. */
export function valuesOf<Name extends keyof Values>(
  facts: TakeoverFacts,
  names: readonly Name[],
): Pick<Values, Name> | undefined {
  if (names.some((name) => 'unread' in facts[name])) return undefined
  const entries = names.map((name) => [name, valueOf<unknown>(facts[name])])
  // Each of them was read.
  return Object.fromEntries(entries) as Pick<Values, Name>
}

/** What could not be read: a plan that does not know it would promise too much. */
export function unreadFindings(facts: TakeoverFacts): Finding[] {
  return Object.entries(facts).flatMap(([name, fact]): Finding[] => {
    if (!('unread' in fact)) return []
    return [
      {
        reason: 'unread',
        where: name,
        what: `it could not be read: ${fact.unread}`,
        remedy: 'run takeover plan with the rights to read it; to read Secrets, as an administrator of the cluster',
      },
    ]
  })
}
