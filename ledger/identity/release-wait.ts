import type { LedgerDeps } from '../record/ledger-deps.ts'
import type { LedgerMap } from './ledger-map.ts'
import type { SignPlan } from './sign-plan.ts'
import type { Known } from './write-sign.ts'

export type ReleaseWaitDeps = Pick<LedgerDeps, 'scheme' | 'log'> & {
  map: LedgerMap
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  monotonicMs: () => number
}

/** For how long this leader releases nothing. */
export function releaseWait({ map, scheme, successionMs, monotonicMs, log }: ReleaseWaitDeps) {
  let silentMs: number | undefined
  let untilMs: number | undefined
  const leftMs = () => (untilMs === undefined || monotonicMs() >= untilMs ? undefined : untilMs - monotonicMs())
  return {
    leftMs,
    reset(silence: number | undefined) {
      silentMs = silence
      untilMs = undefined
    },
    end: () => void (untilMs = undefined),
    async begin(
      { plan, entries, stored }: Known & { plan: Extract<SignPlan, { kind: 'observe' }> },
      signal: AbortSignal,
    ): Promise<void> {
      if (untilMs !== undefined) return
      const { hasWaited } = entries
      const waitMs = releaseWaitMs({ silentMs, hasWaited, successionMs, signMs: plan.signMs })
      // The next leader of a copy must not take us for the original's.
      if (waitMs > 0) await map.change(stored, { cluster: scheme.cluster, waiting: 'true' }, signal)
      if (waitMs > 0) log.info({ waitMs }, 'releases wait: this may be a copy of a cluster that lives')
      untilMs = monotonicMs() + waitMs
    },
  }
}

/** The facts that tell a new leader of a cluster from the first leader of a copy. */
type Silence = {
  /**
   * How long the lease had not been renewed when this leader claimed it, by the clocks of two processes; undefined if
   * there was no lease.
   */
  silentMs: number | undefined
  /** An earlier leader began to wait, and did not come to an end: the lease says nothing about the time before it. */
  hasWaited: boolean
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  /** In this time an original that lives has written its next sign. */
  signMs: number
}

/**
 * For how long a new leader releases nothing, because it may be that of a copy whose backup is younger than the original's
 * last sign. Pure.
 *
 * | the last leader                                        | releases wait                           |
 * | ------------------------------------------------------ | --------------------------------------- |
 * | ended a moment ago, and had not to wait itself         | not: a copy takes longer to restore     |
 * | ended earlier or later than that, by its clock         | until an original has signed            |
 * | had not ended to wait, or nobody knows when it ended   | until an original has signed            |
 *
 * A long silence does not shorten the wait: it may be the difference of two clocks.
 */
function releaseWaitMs({ silentMs, hasWaited, successionMs, signMs }: Silence): number {
  const isSuccession = silentMs !== undefined && Math.abs(silentMs) <= successionMs
  return isSuccession && !hasWaited ? 0 : signMs
}
