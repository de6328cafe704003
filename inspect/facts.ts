import type { SoftwareFacts } from '../announcers/check.ts'
import type { AssignedAddress } from '../clouds/ports/assignments.ts'
import type { Fault, Reservation, Location } from '../clouds/ports/cloud.ts'
import type { Machine } from '../clouds/ports/machines.ts'
import type { Peer, SeenSessions } from '../clouds/ports/peering.ts'
import type { ConfigMap, KubeEvent, KubeObject, Lease, Node, Service, Rule } from '../kube/objects.ts'
import type { ServerFacts } from '../kube/server-facts.ts'
import type { ElasticIP } from '../ledger/record/elastic-ip.ts'
import type { LabelSelector } from '../lib/label-selector.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import type { Configurations, ProbeResult } from '../webhooks/probe-problem.ts'
import type { Fact } from './fact.ts'
import type { ClusterSettings } from '../settings/common.ts'
import type { ProcessSettings } from '../settings/process.ts'

type KeyRef = { name?: string; key: string; optional?: boolean }

export type EnvVar = {
  name: string
  value?: string
  valueFrom?: { secretKeyRef?: KeyRef; configMapKeyRef?: KeyRef; fieldRef?: object; resourceFieldRef?: object }
}

export type EnvFrom = { prefix?: string; secretRef?: { name?: string }; configMapRef?: { name?: string } }

export type Container = {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  env?: EnvVar[]
  envFrom?: EnvFrom[]
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[]
}

type Items = { name?: string; items?: { key: string; path: string }[] }

export type Volume = {
  name: string
  secret?: Items & { secretName?: string }
  configMap?: Items
  hostPath?: { path: string }
  projected?: { sources?: { secret?: Items; configMap?: Items }[] }
}

/** A Deployment, a DaemonSet or a static pod, with everything that configures its program. */
export type Workload = KubeObject & {
  spec?: {
    replicas?: number
    selector?: LabelSelector
    template?: {
      spec?: { containers?: Container[]; volumes?: Volume[]; nodeSelector?: Record<string, string> }
    }
  }
  status?: {
    replicas?: number
    readyReplicas?: number
    desiredNumberScheduled?: number
    currentNumberScheduled?: number
    numberReady?: number
  }
}

export type Pod = KubeObject & {
  spec?: { containers?: Container[]; nodeName?: string; hostNetwork?: boolean }
  status?: {
    phase?: string
    conditions?: { type: string; status: string }[]
    containerStatuses?: { state?: { waiting?: { reason?: string; message?: string } } }[]
  }
}

/** A Role or a binding of one, of the cluster or of a namespace. */
export type RoleObject = KubeObject & {
  rules?: Rule[] | null
  subjects?: { kind: string; name: string; namespace?: string }[]
}

/** A schema of a custom resource, as far as we look into it. */
export type Schema = {
  format?: string
  maximum?: number
  properties?: Record<string, Schema | undefined>
  items?: Schema
}

export type Definition = KubeObject & {
  spec?: { versions?: { name: string; served?: boolean; schema?: { openAPIV3Schema?: Schema } }[] }
}

/** A read from the provider, with the reason why it failed. */
export type CloudRead = { what: string; problem?: string; fault?: Fault | undefined }

/** A session of a BGP router, as FRR-K8s reports it. */
export type SessionState = KubeObject & { status?: { node?: string; peer?: string; bgpStatus?: string } }

/** The peers to which the speaker of one node announces a Service. */
export type AnnouncementState = KubeObject & {
  status?: { node?: string; serviceName?: string; serviceNamespace?: string; peers?: string[] }
}

/** Everything that the checks look at, by name. */
export type Values = {
  server: ServerFacts
  apiServerPods: Pod[]
  webhooks: Configurations
  probe: ProbeResult
  /** The certificate that the webhooks serve, if this machine can reach them. */
  servingCertificate: { place: string; endsAt: Date } | undefined
  /** The id of the cluster, and its sources. */
  cluster: { id: string; uid: string; ledger: ConfigMap | undefined }
  services: Service[]
  records: ElasticIP[]
  nodes: Node[]
  workloads: Workload[]
  leases: Lease[]
  /** The Events of eip-admission in the last hour. */
  events: KubeEvent[]
  /** The roles and bindings that `install` applies, and what the cluster has of each. */
  roles: { wanted: RoleObject; found: RoleObject | undefined }[]
  /** MetalLB's CRDs. */
  definitions: Definition[]
  elasticIPDefinition: Definition | undefined
  /** MetalLB's pools, peers, advertisements and reports. */
  metallb: KubeObject[]
  /** The objects that the announcing software reads and reports; `unknown` are the kinds that the cluster does not know. */
  announcer: { existing: KubeObject[]; reports: KubeObject[]; unknown: string[] }
  /** The ConfigMap of Cilium, in any namespace; none if the setting chooses other software. */
  ciliumConfigs: ConfigMap[]
  /** The ConfigMap of kube-proxy, as kubeadm names it; undefined if the setting assigns no address. */
  kubeProxyConfig: ConfigMap | undefined
  /** Which sessions Cilium is configured with. */
  ciliumSessions: SoftwareFacts['ciliumSessions']
  /** The ConfigMap that MetalLB before 0.13 reads, with the passwords of its peers. */
  document: ConfigMap | undefined
  /** Which Services the speakers of MetalLB announce, from 0.15 on. */
  announcements: AnnouncementState[]
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
