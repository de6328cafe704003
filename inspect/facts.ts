import type { SoftwareFacts } from '../announcers/check.ts'
import type { AssignedAddress } from '../clouds/ports/assignments.ts'
import type { Fault, Reservation, Location } from '../clouds/ports/cloud.ts'
import type { Machine } from '../clouds/ports/machines.ts'
import type { Peer, SeenSessions } from '../clouds/ports/peering.ts'
import type { Definition } from '../kube/definitions.ts'
import type { ConfigMap, KubeEvent, KubeObject, Lease, Service, Rule } from '../kube/objects.ts'
import type { Pod } from '../kube/workloads.ts'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import type { Configurations, ProbeResult } from '../webhooks/webhook-probe.ts'
import type { Fact } from './fact.ts'
import type { ClusterSettings } from '../settings/common.ts'
import type { ProcessSettings } from '../settings/process.ts'

/** A Role or a binding of one, of the cluster or of a namespace. */
export type RoleObject = KubeObject & {
  rules?: Rule[] | null
  subjects?: { kind: string; name: string; namespace?: string }[]
}

/** A read from the provider, with the reason why it failed. */
export type CloudRead = { what: string; problem?: string; fault?: Fault | undefined }

/** A session of a BGP router, as FRR-K8s reports it. */
export type SessionState = KubeObject & { status?: { node?: string; peer?: string; bgpStatus?: string } }

/** Everything that the checks look at, by name. */
export type Values = Omit<SoftwareFacts, 'held'> & {
  apiServerPods: Pod[]
  webhooks: Configurations
  probe: ProbeResult
  /** The certificate that the webhooks serve, if this machine can reach them. */
  servingCertificate: { place: string; endsAt: Date } | undefined
  /** The id of the cluster, and its sources. */
  cluster: { id: string; uid: string; ledger: ConfigMap | undefined }
  services: Service[]
  records: ElasticIP[]
  leases: Lease[]
  /** The Events of eip-admission in the last hour. */
  events: KubeEvent[]
  /** The roles and bindings that `install` applies, and what the cluster has of each. */
  roles: { wanted: RoleObject; found: RoleObject | undefined }[]
  elasticIPDefinition: Definition | undefined
  /** The reports of the announcing software. `unknown` are its kinds that the cluster does not know. */
  announcer: { existing: KubeObject[]; reports: KubeObject[]; unknown: string[] }
  /** The ConfigMap of kube-proxy, as kubeadm names it; undefined if the setting assigns no address. */
  kubeProxyConfig: ConfigMap | undefined
  sessions: SessionState[]
  cloudReads: CloudRead[]
  /** The number of calls, and how many of them the provider's rate limit refused. */
  cloudPace: { calls: number; limited: number }
  reservations: Reservation[]
  locations: Location[]
  machines: Machine[]
  /** The BGP peers that the provider has for a machine, by its id. */
  peers: Map<string, Peer[]>
  /** The provider's view of a machine's sessions, by its id. */
  seenSessions: Map<string, SeenSessions>
  /** The addresses of the project, with the machines that they are assigned to; none if the setting assigns none. */
  assigned: AssignedAddress[]
  /** The reservations with the tag of the control-plane address. */
  controlPlane: AssignedAddress[]
  mirror: Service | undefined
}

export type FactName = keyof Values

export type Facts = { [Name in FactName]: Fact<Values[Name]> }

/** The facts in the settings, which need no read. */
export type Context = {
  now: Date
  /** The names of all variables of the environment. */
  env: readonly string[]
  settings: { process: ProcessSettings; cluster: ClusterSettings; warnings: string[] }
  vendor: Pick<
    CloudProvider,
    | 'project'
    | 'peering'
    | 'assignments'
    | 'managedBalancers'
    | 'marks'
    | 'announcerMarks'
    | 'policy'
    | 'providerIds'
    | 'loadBalancer'
    | 'bgp'
    | 'controlPlane'
    | 'controlPlaneBalancer'
    | 'unsupported'
  > & { cloud: { readonly name: string } }
}
