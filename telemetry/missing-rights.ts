import type { ObservedCall } from '../kube/connect.ts'

/** The rights that the API server denied to this process a short time ago. */
export type MissingRights = {
  observed(call: Pick<ObservedCall, 'call' | 'result' | 'message'>): void
  /** Each right once, such as `patch services in namespace default`. */
  list(): string[]
  problem(): string | undefined
}

/** Every call that we need is repeated sooner, if only by the sweep. */
const rememberedMs = 10 * 60_000

/** The authorizer's own words. An admission plugin, a quota or a namespace in deletion forbids in others. */
const denial = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/

/** No right is missing yet. `onMissing` is called for each right when it is denied and was not denied shortly before. */
export function missingRights(
  onMissing: (right: string) => void,
  now: () => number = () => performance.now(),
): MissingRights {
  const denials = new Map<string, { right: string; atMs: number }>()
  const list = () => {
    for (const [call, { atMs }] of denials) if (now() - atMs >= rememberedMs) denials.delete(call)
    return [...new Set([...denials.values()].map(({ right }) => right))].toSorted()
  }
  return {
    observed({ call, result, message = '' }) {
      if (result === 'ok') return void denials.delete(call)
      const right = result === 'Forbidden' ? rightOf(message) : undefined
      if (right === undefined) return
      const isNew = !list().includes(right)
      denials.set(call, { right, atMs: now() })
      if (isNew) onMissing(right)
    },
    list,
    problem: () => problemOf(list()),
  }
}

function rightOf(message: string): string | undefined {
  const [, verb, resource, group, namespace] = denial.exec(message) ?? []
  if (verb === undefined) return undefined
  return `${verb} ${resource}${group ? `.${group}` : ''}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
}

function problemOf([first, ...others]: string[]): string | undefined {
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `the API server denies this process the right to ${first}${more}. ${remedyOfMissingRights}`
}

/** How a person gives a missing right back. */
export const remedyOfMissingRights =
  'Run install with its first flags, or upgrade the chart. If another namespace has eip-admission too, it took over the rights: ' +
  'a cluster has one installation'
