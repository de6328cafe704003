import { CloudError, type Fault } from '../clouds/ports/cloud.ts'
import { isForbidden } from '../kube/errors.ts'

/** A fact that was read, or why it could not be read. An unread one says nothing about the cluster. */
export type Fact<T> = { value: T } | { unread: string; fault?: Fault; isForbidden?: true }

/** Reads a fact. It never throws: a read that fails must hide no other fact. */
export async function readFact<T>(read: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await read() }
  } catch (error) {
    const unread = error instanceof Error ? error.message : String(error)
    if (error instanceof CloudError) return { unread, fault: error.fault }
    return { unread, ...(isForbidden(error) && { isForbidden: true }) }
  }
}

/** The value of a fact; undefined if it was not read. */
export function valueOf<T>(fact: Fact<T>): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/** The values of these facts, of which each was read. */
export function valuesOf<Values extends object, Name extends keyof Values>(
  facts: { [Each in keyof Values]: Fact<Values[Each]> },
  names: readonly Name[],
): Pick<Values, Name> {
  return Object.fromEntries(names.map((name) => [name, valueOf(facts[name])])) as Pick<Values, Name>
}
