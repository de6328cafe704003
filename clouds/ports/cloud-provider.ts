import type { LoadBalancer } from '../../announcers/setting.ts'
import type { AnnouncerMarks } from '../../announcers/software.ts'
import type { Policy } from '../../settings/service-policy.ts'
import type { Assignments } from './assignments.ts'
import type { BalancerAnnotations, Balancers } from './balancers.ts'
import type { Cloud, MarkScheme, Marks } from './cloud.ts'
import type { Machines, ProviderIds } from './machines.ts'
import type { Bgp, Peering } from './peering.ts'

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
  project: CloudProject
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  announcerMarks: AnnouncerMarks
  /** The cloud's managed load balancers; absent if it has none. */
  managedBalancers?: ManagedBalancers
  /** A warning for each feature that the settings request and this version does not have. */
  unsupported: string[]
}

/** Whether the settings name a way to the control plane, which guardians then keep. */
export function isControlPlaneGuarded({
  controlPlane,
  controlPlaneBalancer,
}: Pick<CloudProvider, 'controlPlane' | 'controlPlaneBalancer'>): boolean {
  return controlPlane !== undefined || controlPlaneBalancer !== undefined
}

/** The project that the settings name. */
export type CloudProject = {
  /** Its id; where a cloud has none, a word for every project. It tells whatever decides which reservations are listed. */
  id: string
  /** Where an operator sets it. */
  setting: string
  /** Only the token decides it, and no answer of the cloud names it: only its reservations show which one it is. */
  isOfToken?: true
  /** The id that earlier versions gave to it and to others: where the ledger has that, the reservations show which it is. */
  formerId?: string
}

/** The managed load balancers of a cloud, with what the dialect decides about them. */
export type ManagedBalancers = {
  client: Balancers
  annotations: BalancerAnnotations
  /** The name that the predecessor gave to the balancer of a Service, by the marks of its reservation. */
  formerName: (marks: Marks) => string
  /** Whether a balancer in this location reaches no node of this region. */
  isElsewhere: (region: string, location: string) => boolean
}

/** Which address is the control-plane address, and how it is reached. */
export type ControlPlaneOptions = {
  tag: string
  /** The port at the address, if it is not the API servers' port. */
  port?: number
  /** Whether only the API servers' own addresses are probed. */
  byHostAddress: boolean
}

/** Everything that one vendor's client does: addresses, machines and, if the vendor offers them, BGP and assignments. */
export type Vendor = Cloud & Machines & { readonly peering?: Peering; readonly assignments?: Assignments }

/** A vendor that offers both. */
export type WholeVendor = Vendor & Required<Pick<Vendor, 'peering' | 'assignments'>>
