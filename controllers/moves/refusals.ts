import { CloudError, type Fault } from '../../clouds/ports/cloud.ts'
import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { errorText } from '../loop/reconcile-key.ts'
import type { Refusal } from './move-plan.ts'

export type Refusals = ReturnType<typeof refusals>

/** The provider may refuse a machine permanently, as in another location, or only for a moment. */
const rememberedMs = 5 * 60_000
const retry = { firstMs: 1_000, maxMs: 15_000 }

/** Refusals shared between addresses: a machine that refuses one address may refuse them all. */
export function sharedRefusals(clock: Pick<Clock, 'now'>): () => Refusals {
  const common = refusals(clock)
  return () => {
    const own = refusals(clock)
    return {
      add: (...failed) => [own, common].forEach((each) => each.add(...failed)),
      remove: (machine) => [own, common].forEach((each) => each.remove(machine)),
      // The reason may be that other address. So the machine only comes after its equals, and no move waits for it.
      current: () => new Map([...[...common.current()].map(hearsay), ...own.current()]),
    }
  }
}

function hearsay([machine, refusal]: [string, Refusal]): [string, Refusal] {
  return [machine, { ...refusal, isCertain: false, againInMs: 0 }]
}

/** The machines that the provider refused for an address, or on which moves failed repeatedly: none at first. */
export function refusals(clock: Pick<Clock, 'now'>) {
  const known = new Map<string, Omit<Refusal, 'againInMs'> & { count: number; atMs: number; againAtMs: number }>()
  return {
    /** Notes that a move to the machine failed. A failure that is no refusal counts from the second consecutive time. */
    add(machine: string, error: unknown) {
      if (isOfAllMachines(error)) return
      const isCertain = isRefusal(error)
      // The first failure is often a lost answer, or a failure of the whole provider.
      const [count, atMs] = [(known.get(machine)?.count ?? (isCertain ? 0 : -1)) + 1, clock.now()]
      const againAtMs = atMs + backoffMs(Math.max(1, count), retry)
      known.set(machine, { error: errorText(error), isCertain, count, atMs, againAtMs })
    },
    /** Notes that a move to the machine succeeded. */
    remove(machine: string) {
      known.delete(machine)
    },
    current(): ReadonlyMap<string, Refusal> {
      for (const [machine, { atMs }] of known) if (clock.now() - atMs > rememberedMs) known.delete(machine)
      const all = [...known].filter(([, { count }]) => count > 0)
      return new Map(
        all.map(([machine, { error, isCertain, againAtMs }]) => {
          return [machine, { error, isCertain, againInMs: Math.max(0, againAtMs - clock.now()) }] as const
        }),
      )
    },
  }
}

/** Whether the provider said that the machine cannot have the address. */
export function isRefusal(error: unknown): boolean {
  return faultOf(error) === 'invalid'
}

/** Whether the provider would have refused any machine. */
function isOfAllMachines(error: unknown): boolean {
  return faultOf(error) === 'rate-limit' || faultOf(error) === 'auth'
}

function faultOf(error: unknown): Fault | undefined {
  return error instanceof CloudError ? error.fault : undefined
}

/** A provider that asks for a longer wait does not know that users wait for the address. */
const longestMs = 10 * 60_000

/** How long the provider asks us to wait before the next call; 0 if it does not ask. */
export function retryAfterOf(error: unknown): number {
  return error instanceof CloudError ? Math.min(error.retryAfterMs ?? 0, longestMs) : 0
}
