import type { Assignments } from './ports/assignments.ts'
import type { Balancers } from './ports/balancers.ts'
import type { Cloud } from './ports/cloud.ts'
import type { Exchange } from './http/client.ts'
import type { ProxyEnvironment } from './http/send.ts'
import type { Machines } from './ports/machines.ts'
import type { Peering } from './ports/peering.ts'
import type { Vendor } from './ports/vendor.ts'
import type { BalancerAnnotations } from '../controllers/balancers/balancer-state.ts'
import type { ProviderIds } from '../controllers/nodes/provider-id.ts'
import type { Log } from '../kube/log.ts'
import type { Key } from '../kube/objects.ts'
import type { MarkScheme } from '../ledger/record/marks.ts'
import type { Policy } from '../ledger/want/want.ts'
import type { AnnouncerMarks } from '../announcers/announcers.ts'
import type { Bgp } from './bgp.ts'
import type { LoadBalancer } from '../announcers/load-balancer-setting.ts'

/** A vendor's client together with what its dialect decides: names, tags and annotations. */
export type CloudProvider = {
  cloud: Cloud
  machines: Machines
  providerIds: ProviderIds
  /** Absent if the cloud has no BGP with machines. */
  peering: Peering | undefined
  /** Absent if the cloud does not assign an address to one machine. */
  assignments: Assignments | undefined
  /** Absent where the operator named no control-plane address. */
  controlPlane: ControlPlaneOptions | undefined
  /** The managed load balancer in front of the control plane, which is guarded in place of an address. */
  controlPlaneBalancer?: { id: string; port?: number } | undefined
  bgp: Bgp
  /** The project that owns our reservations. Another project is another ledger. */
  project: string
  /** The names of the setting of the project. */
  projectSetting: string
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  announcerMarks: AnnouncerMarks
  /** The cloud's managed load balancers; absent if it has none. */
  managedBalancers?: ManagedBalancers
  /** One warning for each feature that the settings request and this version does not have. */
  unsupported: string[]
}

/** The managed load balancers of a cloud, with what the dialect decides about them. */
export type ManagedBalancers = {
  client: Balancers
  annotations: BalancerAnnotations
  /** The name that the predecessor gave to the balancer of a Service. */
  formerName: (key: Key, cluster: string) => string
  /** Whether a balancer in this location reaches no node of this region. */
  isElsewhere: (region: string, location: string) => boolean
}

/** Which address is the control-plane address, and how it is reached. */
export type ControlPlaneOptions = {
  tag: string
  /** The port at the address, if it is not that of the API servers. */
  port?: number
  /** Whether only the API servers' own addresses are probed. */
  byHostAddress: boolean
}

/** What a provider needs of the process. */
export type CloudTools = {
  userAgent: string
  proxy: ProxyEnvironment
  observe: (exchange: Exchange) => void
  log: Log
  signal: AbortSignal
  /** Whether this process reserves addresses, and so needs a location for them. */
  reserves: boolean
}

/** The ports of a vendor's client. */
export function cloudPorts(vendor: Vendor): Pick<CloudProvider, 'cloud' | 'machines' | 'peering' | 'assignments'> {
  return { cloud: vendor, machines: vendor, peering: vendor.peering, assignments: vendor.assignments }
}

/** The time limits of calls to a cloud. */
export function cloudTimeouts({ cloudTimeoutMs }: { cloudTimeoutMs: number }): {
  writeTimeoutMs: number
  readTimeoutMs: number
} {
  return { writeTimeoutMs: cloudTimeoutMs, readTimeoutMs: cloudTimeoutMs / 2 }
}

/** What a dialect's settings say about the control-plane address; undefined without a tag. */
export function controlPlaneOf(settings: {
  tag: string | undefined
  port?: number
  byHostAddress?: boolean
}): ControlPlaneOptions | undefined {
  const { tag, port = 0, byHostAddress = false } = settings
  return tag === undefined ? undefined : { tag, ...(port !== 0 && { port }), byHostAddress }
}
