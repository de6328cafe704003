import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Refusal } from './move-plan.ts'

/** The machines that the cloud refused to assign the address to. */
export type Refusals = {
  add(machine: string, error: string): void
  remove(machine: string): void
  current(): ReadonlyMap<string, Refusal>
}

/** The cloud may refuse a machine for good, as in another location, or for a moment. */
const rememberedMs = 5 * 60_000
const retry = { firstMs: 1_000, maxMs: 15_000 }

/** No refusal so far. */
export function refusals(clock: Pick<Clock, 'now'>): Refusals {
  const known = new Map<string, { error: string; count: number; atMs: number; againAtMs: number }>()
  return {
    add(machine, error) {
      const [count, atMs] = [(known.get(machine)?.count ?? 0) + 1, clock.now()]
      known.set(machine, { error, count, atMs, againAtMs: atMs + backoffMs(count, retry) })
    },
    remove: (machine) => void known.delete(machine),
    current() {
      for (const [machine, { atMs }] of known) if (clock.now() - atMs > rememberedMs) known.delete(machine)
      const all = [...known].map(([machine, { error, againAtMs }]) => {
        return [machine, { error, againInMs: Math.max(0, againAtMs - clock.now()) }] as const
      })
      return new Map(all)
    },
  }
}
