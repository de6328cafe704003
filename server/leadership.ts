import { election } from '../kube/election.ts'
import type { Context } from './context.ts'

export type Leadership = {
  isLeader(): boolean
  /** Leads whenever this replica holds the lease, until the signal aborts and all work has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** Decides which replica runs the controllers: the holder of the lease, or this one if there is no election. */
export function leadership(context: Context, lead: (signal: AbortSignal) => Promise<void>): Leadership {
  const { settings, client, identity, log } = context
  const { leaderElect, leaseNamespace, leaseName, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings.process
  const leadSafely = async (signal: AbortSignal) => {
    try {
      await lead(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  if (!leaderElect) return { isLeader: () => true, run: leadSafely }
  const lease = { namespace: leaseNamespace, name: leaseName }
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs }
  return election({ client, lease, identity, ...times, lead: leadSafely, log })
}
