import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { WarmPlan } from '../../ledger/available/warm-plan.ts'
import type { Reconciler } from '../loop/reconciler.ts'

/** The only key of the warm pool, which is planned as a whole. */
export const warmPoolKey = 'all'

export type WarmPoolDeps = {
  plan: () => WarmPlan
  /** Writes the record of one more warm address; returns the reason if there can be none. */
  add: (warm: WarmPlan['add'][number], signal: AbortSignal) => Promise<string | undefined>
  release: (source: ElasticIP, signal: AbortSignal) => Promise<unknown>
  /** Receives the reason why the pool is not filled, once for each new reason. */
  report: (reason: string) => void
}

/** Keeps the warm pool at its size. It only writes and ends records; each address is reserved by its own controller. */
export function warmPool(deps: WarmPoolDeps): Reconciler {
  let reported: string | undefined
  return {
    name: 'warm-pool',
    async reconcile(_key, signal) {
      const { add, surplus } = deps.plan()
      for (const source of surplus) await deps.release(source, signal)
      let reason: string | undefined
      for (const warm of add) reason = (await deps.add(warm, signal)) ?? reason
      if (reason !== undefined && reason !== reported) deps.report(reason)
      reported = reason
      return {}
    },
  }
}
