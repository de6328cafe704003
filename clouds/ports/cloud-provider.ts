import type { LoadBalancer } from '../../announcers/setting.ts'
import type { AnnouncerMarks } from '../../announcers/software.ts'
import type { Policy } from '../../settings/service-policy.ts'
import type { Assignments } from './assignments.ts'
import type { BalancerAnnotations, Balancers } from './balancers.ts'
import type { Cloud, MarkScheme, Marks } from './cloud.ts'
import type { Machines, ProviderIds } from './machines.ts'
import type { Bgp, Peering } from './peering.ts'

/** A vendor's client, with the names, tags and annotations of its dialect. */
export type CloudProvider = {
  cloud: Cloud
  machines: Machines
  providerIds: ProviderIds
  /** Absent if the provider has no BGP with machines. */
  peering: Peering | undefined
  /** Absent if the provider does not assign an address to one machine. */
  assignments: Assignments | undefined
  /** Absent if the operator named no control-plane address. */
  controlPlane: ControlPlaneOptions | undefined
  /** The managed load balancer in front of the control plane, which is guarded instead of an address. */
  controlPlaneBalancer?: { id: string; port?: number } | undefined
  bgp: Bgp
  /** The project that owns our reservations. Another project has another ledger. */
  project: CloudProject
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  announcerMarks: AnnouncerMarks
  /** The provider's managed load balancers; absent if it has none. */
  managedBalancers?: ManagedBalancers
  /** A warning for each feature that the settings request and this version lacks. */
  unsupported: string[]
}

/** Whether the settings name an entry to the control plane, which guardians then keep reachable. */
export function isControlPlaneGuarded({
  controlPlane,
  controlPlaneBalancer,
}: Pick<CloudProvider, 'controlPlane' | 'controlPlaneBalancer'>): boolean {
  return controlPlane !== undefined || controlPlaneBalancer !== undefined
}

/** The project that the settings name. */
export type CloudProject = {
  /** Its id, or one word for all projects of a provider without ids. It covers everything that selects the reservations. */
  id: string
  /** Where an operator sets it. */
  setting: string
  /** Set if only the token decides it, and no answer of the provider names it. Then only its reservations identify it. */
  isOfToken?: true
  /** An id that earlier versions gave to several projects. If the ledger has it, only the reservations tell which one. */
  formerId?: string
}

/** The managed load balancers of a provider, and the dialect's rules for them. */
export type ManagedBalancers = {
  client: Balancers
  annotations: BalancerAnnotations
  /** The name that the predecessor gave to a Service's balancer, by the marks of its reservation. */
  formerName: (marks: Marks) => string
  /** Whether a balancer in this location reaches no node of this region. */
  isElsewhere: (region: string, location: string) => boolean
}

/** Which address is the control-plane address, and how to reach it. */
export type ControlPlaneOptions = {
  tag: string
  /** The port at the address, if it differs from the API servers' port. */
  port?: number
  /** Whether only the API servers' own addresses are probed. */
  byHostAddress: boolean
}

/** Everything that a vendor's client does: addresses, machines and, if the vendor offers them, BGP and assignments. */
export type Vendor = Cloud & Machines & { readonly peering?: Peering; readonly assignments?: Assignments }

/** A vendor that offers both. */
export type WholeVendor = Vendor & Required<Pick<Vendor, 'peering' | 'assignments'>>
