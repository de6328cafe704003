import type { Exchange } from '../clouds/ports/cloud.ts'

/** The exchanges of one call to the cloud since the start. */
export type CallTotal = {
  call: string
  count: number
  failed: number
  succeededAtMs?: number
  failedAtMs?: number
  fault?: string
  status?: number
}

export type ReconcileTotal = { count: number; failed: number; failedAtMs?: number }

/** What the process has done since its start, in numbers that a person reads. */
export type Activity = {
  exchanged(exchange: Exchange): void
  reconciled(controller: string, result: string): void
  calls(): readonly CallTotal[]
  reconciles(): ReadonlyMap<string, ReconcileTotal>
}

/** Nothing has been done yet. It keeps one entry for each name in our own code, so it stays small. */
export function makeActivity(now: () => number = Date.now): Activity {
  const calls = new Map<string, CallTotal>()
  const reconciles = new Map<string, ReconcileTotal>()
  return {
    exchanged({ call, fault, status }) {
      const total = calls.get(call) ?? { call, count: 0, failed: 0 }
      calls.set(call, total)
      total.count += 1
      if (fault === undefined) return void (total.succeededAtMs = now())
      total.failed += 1
      total.failedAtMs = now()
      total.fault = fault
      delete total.status
      if (status !== undefined) total.status = status
    },
    reconciled(controller, result) {
      const total = reconciles.get(controller) ?? { count: 0, failed: 0 }
      reconciles.set(controller, total)
      total.count += 1
      if (!failures.has(result)) return
      total.failed += 1
      total.failedAtMs = now()
    },
    calls: () => [...calls.values()],
    reconciles: () => reconciles,
  }
}

/** Results of a reconcile that its user may notice. A conflict is repeated at once. */
const failures = new Set(['error', 'terminal', 'unsettled'])
