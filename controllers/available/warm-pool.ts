import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { WarmPlan } from '../../ledger/available/warm-plan.ts'
import type { Reconciler } from '../reconciler.ts'

/** The only key of the warm pool: it is looked at as a whole. */
export const warmPoolKey = 'all'

export type WarmPoolDeps = {
  plan: () => WarmPlan
  /** Answers why there can be none. */
  add: (one: WarmPlan['add'][number], signal: AbortSignal) => Promise<string | undefined>
  release: (source: ElasticIP, signal: AbortSignal) => Promise<unknown>
  tell: (why: string) => void
  intervalMs: number
}

/** Keeps as many addresses waiting as were asked for. It only writes and ends their records; each is reserved by itself. */
export function warmPool(deps: WarmPoolDeps): Reconciler {
  let told: string | undefined
  return {
    name: 'warm-pool',
    async reconcile(_key, signal) {
      const { add, surplus } = deps.plan()
      for (const source of surplus) await deps.release(source, signal)
      let full: string | undefined
      for (const one of add) full = (await deps.add(one, signal)) ?? full
      if (full !== undefined && full !== told) deps.tell(full)
      told = full
      return { againInMs: deps.intervalMs }
    },
  }
}
