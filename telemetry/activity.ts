import type { Exchange } from '../clouds/ports/cloud.ts'

/** The exchanges of one kind of call to the provider since the start. */
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

/** The work of the process since its start, in numbers for people. */
export type Activity = {
  exchanged(exchange: Pick<Exchange, 'call' | 'ms' | 'fault' | 'status'>): void
  reconciled(controller: string, result: string): void
  calls(): readonly CallTotal[]
  reconciles(): ReadonlyMap<string, ReconcileTotal>
  /** How often the provider has answered. A refusal is an answer. */
  answers(): number
  /** How long all calls have failed without an answer, from the start of the first to the end of the last; else 0. */
  silentMs(): number
}

/** Starts without any work. It has one entry for each name in our own code, so it stays small. */
export function makeActivity(now: () => number = Date.now, monotonicMs = () => performance.now()): Activity {
  const calls = new Map<string, CallTotal>()
  const reconciles = new Map<string, ReconcileTotal>()
  let answers = 0
  let silence: { fromMs: number; toMs: number } | undefined
  return {
    exchanged({ call, ms, fault, status }) {
      const isAnswer = fault !== 'unavailable'
      answers += Number(isAnswer)
      silence = isAnswer ? undefined : { fromMs: silence?.fromMs ?? monotonicMs() - ms, toMs: monotonicMs() }
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
    answers: () => answers,
    silentMs: () => (silence ? silence.toMs - silence.fromMs : 0),
  }
}

/** Results of a reconcile that a user may notice. A conflict is retried at once. */
const failures = new Set(['error', 'terminal', 'unsettled'])
