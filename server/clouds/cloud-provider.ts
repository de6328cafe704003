import type { Cloud } from '../../clouds/cloud.ts'
import type { Exchange } from '../../clouds/http.ts'
import type { Machines } from '../../clouds/machines.ts'
import type { Peering } from '../../clouds/peering.ts'
import type { Vendor } from '../../clouds/vendor.ts'
import type { ProviderIds } from '../../controllers/nodes/provider-id.ts'
import type { Log } from '../../kube/log.ts'
import type { MarkScheme } from '../../ledger/record/marks.ts'
import type { Policy } from '../../ledger/want/want.ts'
import type { AnnouncerMarks } from '../announcers.ts'
import type { Bgp } from '../bgp.ts'
import type { LoadBalancer } from '../settings/load-balancer.ts'

/** A vendor with its dialect: whom to call, and in which words the cluster's people speak of it. */
export type CloudProvider = {
  cloud: Cloud
  machines: Machines
  providerIds: ProviderIds
  /** Absent where the cloud speaks no BGP with machines. */
  peering: Peering | undefined
  bgp: Bgp
  /** What our reservations belong to in the cloud: another one is another ledger. */
  project: string
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  announcerMarks: AnnouncerMarks
  /** What was asked for and this version does not do. */
  missing: string[]
}

export type CloudTools = {
  userAgent: string
  observe: (exchange: Exchange) => void
  log: Log
  signal: AbortSignal
}

/** The ports of one vendor's client. */
export function portsOf(vendor: Vendor): Pick<CloudProvider, 'cloud' | 'machines' | 'peering'> {
  return { cloud: vendor, machines: vendor, peering: vendor.peering }
}

/** How long the calls to a cloud may take. */
export function timeoutsOf({ cloudTimeoutMs }: { cloudTimeoutMs: number }): {
  writeTimeoutMs: number
  readTimeoutMs: number
} {
  return { writeTimeoutMs: cloudTimeoutMs, readTimeoutMs: cloudTimeoutMs / 2 }
}

/** Settings of features that are not there are read, so that a predecessor's still start it; that must not pass silently. */
export function missingOf(controlPlane: (string | undefined)[]): string[] {
  const isAsked = controlPlane.some((setting) => setting !== undefined)
  return isAsked ? ['the control-plane address is not moved by this version'] : []
}
