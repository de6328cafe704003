import type { ConfigMap, KubeObject, Node, Service } from '../kube/objects.ts'
import type { Definition } from '../kube/definitions.ts'
import type { ServerFacts } from '../kube/server-facts.ts'
import type { Workload } from '../kube/workloads.ts'
import type { IpAddress } from '../lib/ip-address.ts'
import type { LoadBalancer } from './setting.ts'
import type { Remedy } from '../lib/remedy.ts'

/** The peers to which the speaker of one node announces a Service. */
export type AnnouncementState = KubeObject & {
  status?: { node?: string; serviceName?: string; serviceNamespace?: string; peers?: string[] }
}

/** An address that a Service has held long enough to be announced. */
export type HeldAddress = { service: Service; address: IpAddress; text: string }

/** The facts for the checks of announcing software. Each check names those it needs. */
export type SoftwareFacts = {
  server: ServerFacts
  workloads: readonly Workload[]
  nodes: readonly Node[]
  held: readonly HeldAddress[]
  /** MetalLB's CRDs. */
  definitions: readonly Definition[]
  /** MetalLB's pools, peers, advertisements and reports. */
  metallb: readonly KubeObject[]
  /** The ConfigMap that MetalLB before 0.13 reads, with the passwords of its peers. */
  document: ConfigMap | undefined
  /** Which Services the speakers of MetalLB announce, from 0.15 on. */
  announcements: readonly AnnouncementState[]
  /** The objects that the configured announcing software reads. */
  announcer: { existing: readonly KubeObject[] }
  /** Cilium's ConfigMap, in any namespace; none if the setting chooses other software. */
  ciliumConfigs: readonly ConfigMap[]
  /** The objects that configure Cilium's sessions. */
  ciliumSessions: readonly (KubeObject & { spec: { bgpInstances?: { peers?: { peerAddress: string }[] }[] } })[]
}

/** The routers to which an object configures BGP sessions. `removal` is the command that deletes it. */
export type ConfiguredSessions = { where: string; routers: string[]; removal: string }

/** The settings for a check. `peerDomain`: the domain of the node annotations with the BGP peers. */
export type CheckSettings = { loadBalancer: LoadBalancer; classes: readonly string[]; peerDomain: string }

/**
 * A problem: what and where, why it matters, and the command that fixes it. `manual`: the command shows a person what
 * no object reports.
 */
export type SoftwareFinding = {
  level: 'error' | 'warning' | 'manual'
  what: string
  why: string
  fix: Remedy
  /** The missing program may run where the cluster does not show it, so a person may know better. */
  isUnseen?: true
}

/** The problems that a check finds: one, several or none. */
export type SoftwareFindings = SoftwareFinding | readonly SoftwareFinding[]

/** A check of one announcing software, which `doctor` runs: a pure function from facts to findings. */
export type SoftwareCheck<Need extends keyof SoftwareFacts = keyof SoftwareFacts> = {
  id: string
  /** The subject of the check, for the reference. */
  checks: string
  /** The text of the report if nothing is wrong. */
  good: string
  needs: readonly Need[]
  /** The kinds of the load balancer setting under which it runs; by default all kinds of its software. */
  kinds?: readonly LoadBalancer['kind'][] | 'all'
  /** A method, so that checks with different needs fit into one list. */
  judge(facts: Pick<SoftwareFacts, Need>, settings: CheckSettings): SoftwareFindings
}

/** Makes a check that reads only the facts that it names. */
export function defineSoftwareCheck<Need extends keyof SoftwareFacts>(check: SoftwareCheck<Need>): SoftwareCheck {
  // Every caller passes all facts that the check names.
  return check
}
