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

/** A vendor's client together with what its dialect decides: names, tags and annotations. */
export type CloudProvider = {
  cloud: Cloud
  machines: Machines
  providerIds: ProviderIds
  /** Absent if the cloud has no BGP with machines. */
  peering: Peering | undefined
  bgp: Bgp
  /** The project that owns our reservations. Another project is another ledger. */
  project: string
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  announcerMarks: AnnouncerMarks
  /** One warning for each feature that the settings request and this version does not have. */
  unsupported: string[]
}

/** What a provider needs of the process. */
export type CloudTools = {
  userAgent: string
  observe: (exchange: Exchange) => void
  log: Log
  signal: AbortSignal
}

/** The ports of a vendor's client. */
export function cloudPorts(vendor: Vendor): Pick<CloudProvider, 'cloud' | 'machines' | 'peering'> {
  return { cloud: vendor, machines: vendor, peering: vendor.peering }
}

/** The time limits of calls to a cloud. */
export function cloudTimeouts({ cloudTimeoutMs }: { cloudTimeoutMs: number }): {
  writeTimeoutMs: number
  readTimeoutMs: number
} {
  return { writeTimeoutMs: cloudTimeoutMs, readTimeoutMs: cloudTimeoutMs / 2 }
}

/**
 * Warnings about the control-plane address, which this version does not move. We accept its settings, so that the
 * arguments of a predecessor still start the process, but never silently. `details` are settings that only change how it
 * would be moved; each is named by its flag, with whether an operator has set it.
 */
export function unsupportedFeatures(controlPlane: (string | undefined)[], details: Record<string, boolean>): string[] {
  const isRequested = controlPlane.some((setting) => setting !== undefined)
  return [
    ...(isRequested ? ['the control-plane address is not moved: this version does not support it'] : []),
    ...Object.entries(details)
      .filter(([, isSet]) => isSet)
      .map(([flag]) => `${flag} has no effect: this version does not move the control-plane address`),
  ]
}
