import type { KubeObject, Lease, Secret } from '../../../kube/objects.ts'
import type { Facts } from '../../../inspect/facts.ts'
import type { Fact } from '../../../inspect/fact.ts'
import type { Progress } from '../progress.ts'
import type { ProgramObject } from '../predecessors/pod-template.ts'

/** What of the cluster and the cloud `takeover plan` looks at: facts of `doctor`, and some of its own. */
export type TakeoverFacts = Pick<
  Facts,
  | 'server'
  | 'cluster'
  | 'services'
  | 'records'
  | 'nodes'
  | 'workloads'
  | 'definitions'
  | 'metallb'
  | 'document'
  | 'sessions'
  | 'cloudReads'
  | 'cloudPace'
  | 'reservations'
  | 'machines'
  | 'peers'
  | 'seenSessions'
  | 'controlPlane'
> & {
  /** Deployments and DaemonSets of every namespace, with what says who manages them. */
  programs: Fact<ProgramObject[]>
  /** The leases of the predecessor and of ours. */
  leases: Fact<Lease[]>
  /** The Secret with the password of MetalLB's sessions, which we may have written. */
  bgpSecret: Fact<Secret | undefined>
  autoscalers: Fact<Autoscaler[]>
  /** What a takeover that was begun has written down. */
  progress: Fact<Progress | undefined>
  /** The lease of the run that works on it. */
  lock: Fact<Lease | undefined>
}

export type Autoscaler = KubeObject & { spec?: { scaleTargetRef?: { kind: string; name: string } } }
