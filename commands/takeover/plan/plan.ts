import type { Predecessor } from '../../../inspect/predecessors.ts'
import { type TakeoverStatus, isComplete } from '../takeover-status.ts'

/*
 * What `takeover plan` prints and `takeover apply` carries out. Plain data: it can be written as JSON and read back. No
 * value in it is a secret.
 */

export type ObjectRef = { namespace: string; name: string }

/** A workload of the predecessor, as it was found: what `undo` needs to bring it back. */
export type PredecessorWorkload = ObjectRef & {
  kind: 'Deployment' | 'DaemonSet'
  uid: string
  image: string
  /** The version in the tag of the image; undefined if it is none that we know. */
  version: string | undefined
  /** Of a Deployment. */
  replicas?: number
  /** Of a DaemonSet: it is stopped by a selector that no node fits. */
  nodeSelector?: Record<string, string>
  /** Whether it has a replica, or a pod that should run. */
  isRunning: boolean
  /** The release of Helm that it belongs to. */
  helmRelease?: string
}

export type PlannedLease = ObjectRef & {
  /** Whether the predecessor elects a leader at all: its manifests say --leader-elect=false. */
  isUsed: boolean
  /** The holder that the lease names now; undefined without lease. */
  holder: string | undefined
  renewTime?: string
}

/** A Service and its address. The two addresses are equal in every plan without blockers. */
export type PlannedService = ObjectRef & {
  uid: string
  /** What the network knows, or else what the spec says. Undefined: the Service waits for an address. */
  before: string | undefined
  after: string | undefined
  reservationID?: string
  /**
   * `reserved`: by a reservation with the Service's marks, which is adopted. `record`: we hold it already. `own`: an address
   * of the user. `balancer`: a managed load balancer. `control-plane`: it shows the control-plane address. `pending`: it
   * has none yet, and gets one as it would have from the predecessor. `ignored`: it is none of ours.
   */
  held: 'reserved' | 'record' | 'own' | 'balancer' | 'control-plane' | 'pending' | 'ignored'
  /** Finalizers of the predecessor on it, which stay. */
  finalizers: string[]
  /** Where an address of it is written: `status.loadBalancer`, `spec.loadBalancerIP`, or an annotation. */
  shownIn: string[]
}

/** A reservation at the cloud that has the predecessor's marks, or that a Service shows. */
export type PlannedReservation = {
  id: string
  address: string | undefined
  whose:
    'service' | 'record' | 'orphan' | 'surplus' | 'untagged' | 'unknown' | 'own' | 'control-plane' | 'other-cluster'
  /** The Service, as namespace/name. */
  service?: string
  /** `adopt`: a record is written. `mark`: it also gets the mark of this cluster. `keep`: nothing is done. */
  action: 'adopt' | 'mark' | 'keep'
}

/** What happens to one node. `none`: its annotations already say what we would say. `removed`: those that are not true any more. */
export type PlannedNode = { name: string; change: 'none' | 'annotations'; annotations: string[]; removed: string[] }

/** What happens to an object of the announcing software. `adopted`: only labels are added, nothing is announced anew. */
export type PlannedObject = {
  kind: string
  namespace: string
  name: string
  change: 'kept' | 'adopted' | 'changed' | 'added' | 'removed'
  /** The fields of the spec that change. */
  fields: string[]
  /** Whether a BGP session ends and begins again. */
  interruptsSession: boolean
}

/** Something that `apply` must not start with, or that a person should know before. */
export type Finding = {
  /** Stable, for programs. */
  reason: string
  /** What is wrong, with the object. */
  where: string
  what: string
  remedy: string
}

/** What a part of the plan has to say. A blocker is in the way; the rest is a warning. */
export type PlanFinding = Finding & { isBlocker?: boolean }

/** The predecessor's settings, translated. */
export type PlannedSettings = {
  /** The value of --cloud-provider. */
  cloudProvider: string
  /** The flags of `serve`, without those of the configuration file. */
  flags: Record<string, string>
  /** The Secret of the predecessor that was read; undefined if its settings came by another way. */
  source: (ObjectRef & { key: string }) | undefined
  /** The Secret that our workload mounts. Only the names of its fields are known here. */
  secret: ObjectRef & {
    key: string
    /** The fields of the file, in its order. */
    fields: string[]
    /** `copy`: the same bytes as the source. `merge`: the source and what the predecessor read from its environment. */
    how: 'copy' | 'merge'
  }
  /** The values file of the chart, as YAML. It holds no secret. */
  values: string
  /** What of the predecessor's settings has no effect any more, or another one. */
  notes: string[]
}

export type TakeoverPlan = {
  /** The version of this form. */
  formatVersion: 1
  cluster: { id: string; server: string }
  predecessor: {
    id: Predecessor['id']
    title: string
    workloads: PredecessorWorkload[]
    lease: PlannedLease
    usage: string
    finalizers: string[]
  }
  /** Where our program will run. */
  target: { namespace: string; leaseNamespace: string; leaseName: string }
  /** A takeover that was begun; undefined if none was. */
  status?: TakeoverStatus | undefined
  settings: PlannedSettings
  services: PlannedService[]
  reservations: PlannedReservation[]
  nodes: PlannedNode[]
  /** `waves`: how often sessions of some nodes begin again, one wave after the other. */
  announcer: { name: string; objects: PlannedObject[]; interruptedSessions: number; waves: number }
  blockers: Finding[]
  warnings: Finding[]
  /** What the project pays for. The difference is what Services wait for already. */
  cost: { addressesBefore: number; addressesAfter: number }
}

/** Whether a takeover was carried out to its end, and nothing is in the way of staying so. */
export function isDone({ status, blockers }: Pick<TakeoverPlan, 'status' | 'blockers'>): boolean {
  return isComplete(status) && blockers.length === 0
}

/** Whether `apply` may begin. */
export function canApply(plan: Pick<TakeoverPlan, 'blockers'>): boolean {
  return plan.blockers.length === 0
}
