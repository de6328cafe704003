import type { Lease } from '../../../kube/objects.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import { livingWorker } from '../lock.ts'
import type { Progress } from '../progress.ts'
import { type TakeoverStatus, isComplete, nextCommand, statusText } from '../takeover-status.ts'
import type { Finding, ObjectRef, PlannedService, PredecessorWorkload } from './plan.ts'

type Seen = {
  progress: Progress | undefined
  /** The lease of the run that works. */
  lock: Lease | undefined
  workloads: readonly PredecessorWorkload[]
  services: readonly PlannedService[]
  ours: ObjectRef
  leases: readonly Lease[]
  now: Date
}

/** Where a takeover that was begun stands; undefined if none was. Pure. */
export function planStatus({
  progress,
  lock,
  workloads,
  services,
  ours,
  leases,
  now,
}: Seen): TakeoverStatus | undefined {
  if (!progress) return undefined
  const { state: recorded, step } = progress
  const own = leases.find(({ metadata }) => metadata.namespace === ours.namespace && metadata.name === ours.name)
  const isLed = own !== undefined && isHeld(own, now) && isOwnIdentity(own.spec?.holderIdentity ?? '')
  const open = services.filter(({ held }) => held === 'reserved').length
  const lacking = [
    ...workloads
      .filter(({ isRunning }) => isRunning)
      .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name} runs again`),
    ...(isLed ? [] : [`no eip-admission holds the lease ${ours.namespace}/${ours.name}`]),
    ...(open > 0 ? [`${open} ${open === 1 ? 'reservation has' : 'reservations have'} no ElasticIP`] : []),
  ]
  return { recorded, step, lacking: recorded === 'applied' ? lacking : [], worker: livingWorker(lock, now) }
}

/** What a person should know of a takeover that is not complete. */
export function statusFinding(status: TakeoverStatus | undefined): Finding[] {
  if (!status || isComplete(status)) return []
  const other = status.recorded === 'undoing' ? 'apply takes over again' : 'undo goes back'
  return [
    {
      reason: 'takeover-begun',
      where: 'the cluster',
      what: `${statusText(status)}; the plan shows what is left`,
      remedy: status.worker
        ? 'wait until that run has ended, then run takeover plan again'
        : `${nextCommand(status)} continues it, eip-admission takeover ${other}`,
    },
  ]
}
