import type { Predecessor } from '../../../inspect/predecessors.ts'
import type { Remedy } from '../../../lib/remedy.ts'

/**
 * The plan that `takeover plan` prints and `takeover apply` carries out. Plain data: it can be written as JSON and read
 * back, and contains no secret.
 */

export type ObjectRef = { namespace: string; name: string }

/** A workload of the predecessor as it was found, with what `undo` needs to bring it back. */
export type PredecessorWorkload = ObjectRef & {
  kind: 'Deployment' | 'DaemonSet'
  image: string
  /** The version in the image's tag; undefined if it is not one that we know. */
  version: string | undefined
  /** The replicas of a Deployment. */
  replicas?: number
  /** Whether it has a replica, or a pod is desired. */
  isRunning: boolean
  /** The release of Helm that it belongs to. */
  helmRelease?: string
}

export type PlannedLease = ObjectRef & {
  /** Whether the predecessor elects a leader at all: its own manifests set --leader-elect=false. */
  isUsed: boolean
  /** The holder of the lease now; undefined if no process holds it. */
  holder: string | undefined
}

/** A Service and its address. `before` and `after` are equal in every plan without blockers. */
export type PlannedService = ObjectRef & {
  uid: string
  /** The address of the status, or else of the spec. Undefined: the Service waits for an address. */
  before: string | undefined
  after: string | undefined
  reservationID?: string
  /**
   * `reserved`: by a reservation with the Service's marks, which is adopted. `record`: we hold it already. `own`: the
   * user's own address. `balancer`: a managed load balancer. `control-plane`: it shows the control-plane address.
   * `pending`: it has none yet, and gets one as it would have from the predecessor. `ignored`: it is not ours.
   */
  held: 'reserved' | 'record' | 'own' | 'balancer' | 'control-plane' | 'pending' | 'ignored'
  /** The predecessor's finalizers on it, which stay. */
  finalizers: string[]
  /** The places that show its address: `status.loadBalancer`, `spec.loadBalancerIP`, or an annotation. */
  shownIn: string[]
}

/** A reservation at the provider that has the predecessor's marks, or that a Service shows. */
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

/** The annotations of a node that are missing or wrong, and those to remove. */
export type PlannedNode = { name: string; annotations: string[]; removed: string[] }

/**
 * A change to an object of the announcing software, or its ConfigMap (perhaps `kept`). `adopted`: only labels are added,
 * and no route changes.
 */
export type PlannedObject = {
  kind: string
  namespace: string
  name: string
  change: 'kept' | 'adopted' | 'changed' | 'added' | 'removed'
  /** The fields of the spec that change. */
  fields: string[]
  /** Whether a BGP session restarts. */
  interruptsSession: boolean
}

/** A fact that blocks `apply`, or that a person should know beforehand. */
export type Finding = {
  /** Stable, for programs. */
  reason: string
  /** The object. */
  where: string
  what: string
  remedy: Remedy
}

/** A finding of a part of the plan: a blocker or a warning. */
export type PlanFinding = Finding & { isBlocker?: boolean }

/** A single finding, several, or none. */
export type PlanFindings = PlanFinding | readonly PlanFinding[]

type Said = Pick<Finding, 'what' | 'remedy'>

/** A finding that blocks `apply`. */
export function blocker(reason: string, where: string, said: Said): PlanFinding {
  return { isBlocker: true, reason, where, ...said }
}

/** A finding that a person should know beforehand. */
export function warning(reason: string, where: string, said: Said): PlanFinding {
  return { reason, where, ...said }
}

/** The predecessor's settings, translated. */
export type PlannedSettings = {
  /** The value of --cloud-provider. */
  cloudProvider: string
  /** The flags of `serve`, without those of the configuration file. */
  flags: Record<string, string>
  /** The predecessor's Secret that was read; undefined if its settings came from elsewhere. */
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
}

/** The state of a takeover. `applied`: every step of `apply` is done. `undoing`: `undo` has started. */
export type TakeoverState = 'applying' | 'applied' | 'undoing'

/** The step that a run started last, where the next run continues. */
export type BegunStep = { title: string; number: number; of: number }

/** A takeover that was started. */
export type TakeoverStatus = {
  recorded: TakeoverState
  step: BegunStep
  /** The reasons why an applied takeover is no longer complete. */
  lacking: string[]
  /** The run that works on it, for people. */
  worker: string | undefined
}

export type TakeoverPlan = {
  /** The version of this format. */
  formatVersion: 1
  cluster: { id: string; server: string }
  predecessor: {
    id: Predecessor['id']
    title: string
    workloads: PredecessorWorkload[]
    lease: PlannedLease
  }
  /** The place of our program. */
  target: { namespace: string; leaseNamespace: string; leaseName: string }
  /** A takeover that was started; undefined if none was. */
  status?: TakeoverStatus | undefined
  settings: PlannedSettings
  services: PlannedService[]
  reservations: PlannedReservation[]
  nodes: PlannedNode[]
  /** `waves`: the number of waves in which sessions restart. */
  announcer: { name: string; objects: PlannedObject[]; waves: number }
  blockers: Finding[]
  warnings: Finding[]
}

/** Whether our program serves the cluster and the predecessor is stopped. */
export function isComplete(status: TakeoverStatus | undefined): boolean {
  return status?.recorded === 'applied' && status.lacking.length === 0
}

/** Whether a takeover is complete, and nothing blocks it. */
export function isDone({ status, blockers }: Pick<TakeoverPlan, 'status' | 'blockers'>): boolean {
  return isComplete(status) && blockers.length === 0
}

/** Whether `apply` may begin. */
export function canApply(plan: Pick<TakeoverPlan, 'blockers'>): boolean {
  return plan.blockers.length === 0
}
