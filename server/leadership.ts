import { election } from '../kube/election.ts'
import type { Context } from './context.ts'

export type Leadership = {
  isLeader(): boolean
  /** Leads whenever we may, until the signal aborts and what was begun has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** Who of several replicas runs the controllers: by lease, or always we where there is no election. */
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
