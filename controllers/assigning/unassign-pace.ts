// How often addresses that stay reserved are taken from their machines. A change of a Service's type
// is several calls, and no order that a limit counts. So a tenant could use up the cloud's rate limit.
//
//   the address                                  | leaves its machine
//   ---------------------------------------------+-----------------------------------------------------------
//   is to be deleted at the cloud                | at once: it was ordered before, and orders are counted
//   did not leave its machine for an hour        | at once
//   did, and five of its namespace have not been | at once
//   taken so within five minutes                 |
//   any other                                    | when a minute has passed for each that was taken
import type { Clock } from '../../kube/clock.ts'
import { shortMemory } from '../../lib/short-memory.ts'

/** Whose Service an address is reserved for. `record`: the uid of the ElasticIP that stays while Services come and go. */
export type Tenancy = { namespace: string | undefined; record: string | undefined }

export type UnassignPace = {
  /** How long an address waits until it may leave its machine. */
  leftMs(tenancy: Tenancy): number
  /** Counts an address that leaves its machine now. Returns what takes that back, for an address that did not leave. */
  take(tenancy: Tenancy): () => void
}

const hourMs = 3_600_000
const intervalMs = 60_000
const burst = 5

/** Nothing was taken yet. */
export function unassignPace(clock: Pick<Clock, 'now'>): UnassignPace {
  const memory = { keptMs: hourMs, monotonicMs: () => clock.now() }
  const taken = shortMemory<string | undefined, true>(memory)
  /** When the next one of each namespace would be due, if there were one each minute. */
  const dueAtMs = shortMemory<string | undefined, number>(memory)
  return {
    leftMs({ namespace, record }) {
      const due = taken.has(record) ? (dueAtMs.get(namespace) ?? -Infinity) : -Infinity
      return Math.max(0, due - (burst - 1) * intervalMs - clock.now())
    },
    take({ namespace, record }) {
      if (!taken.has(record)) {
        taken.set(record, true)
        return () => taken.delete(record)
      }
      const due = dueAtMs.get(namespace) ?? -Infinity
      dueAtMs.set(namespace, Math.max(due, clock.now()) + intervalMs)
      return () => dueAtMs.set(namespace, (dueAtMs.get(namespace) ?? -Infinity) - intervalMs)
    },
  }
}
