import { election } from '../kube/election.ts'
import { isOwnIdentity } from '../kube/lease.ts'
import { leases } from '../kube/resource.ts'
import { systemClock } from '../kube/clock.ts'
import { repeat } from '../lib/repeat.ts'
import type { Base } from './base.ts'
import { handover } from './handover.ts'

export type Leadership = {
  isLeader(): boolean
  /** The time limit for a write to the provider that must end while this process leads. */
  writeMs(): number
  /** The leading replica, as last seen; undefined before the first look. */
  holder(): string | undefined
  /** Leads whenever this replica holds the lease, until the signal aborts and all work has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** `silentMs`: how long there was no leader; undefined if there never was one. */
type Lead = (signal: AbortSignal, silentMs: number | undefined) => Promise<void>

/** Timers fire late. */
const leaseMarginMs = 500

/** The next leader must begin within a minute after a usual lease. Otherwise its releases wait, like those of a copy. */
const longestLeaseMs = 24_000

type Deps = Pick<Base, 'settings' | 'leaseClient' | 'identity' | 'vendor' | 'activity' | 'log'>

/** Decides which replica runs the controllers: the holder of the lease, or this one if there is no election. */
export function leadership({ settings, leaseClient, identity, vendor, activity, log }: Deps, lead: Lead): Leadership {
  const { leaderElect, leaseNamespace, leaseName, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings.process
  const leadSafely: Lead = async (signal, silentMs) => {
    try {
      await lead(signal, silentMs)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  if (!leaderElect)
    return {
      isLeader: () => true,
      writeMs: () => Infinity,
      holder: () => identity,
      run: (signal) => leadSafely(signal, 0),
    }
  const lease = { namespace: leaseNamespace, name: leaseName }
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs }
  const handing = handover({ leaseClient, identity, lease, cloud: vendor.cloud, activity, log, clock: systemClock })
  const elected = election({
    client: leaseClient,
    lease,
    identity,
    ...times,
    longestLeaseMs,
    ...handing,
    lead: (signal, silentMs) => handing.during((own) => leadSafely(own, silentMs), signal),
    log,
  })
  return {
    ...elected,
    writeMs: () => elected.leaseLeftMs() - leaseMarginMs,
  }
}

/** Follows the holder of the lease, in a process that does not run for leader. */
export function followedLeadership({
  settings,
  leaseClient,
  log,
}: Pick<Deps, 'settings' | 'leaseClient' | 'log'>): Leadership {
  const { leaderElect, leaseNamespace: namespace, leaseName: name, retryPeriodMs } = settings.process
  let holder: string | undefined
  return {
    isLeader: () => false,
    writeMs: () => 0,
    holder: () => holder,
    async run(signal) {
      if (!leaderElect) return
      const look = async () => {
        try {
          holder = (await leaseClient.get(leases, { namespace, name }, { signal }))?.spec?.holderIdentity ?? ''
        } catch (error) {
          const reason = error instanceof Error ? error.message : 'no reason given'
          log.debug({ error: reason }, 'could not read who leads')
        }
      }
      await repeat(look, { everyMs: retryPeriodMs, signal, clock: systemClock })
    },
  }
}

/** Another program that holds the lease for our leaders: it serves the Services, and we do not. */
export function otherLeader({ holder }: Pick<Leadership, 'holder'>): string | undefined {
  const identity = holder() ?? ''
  return identity === '' || isOwnIdentity(identity) ? undefined : identity
}
