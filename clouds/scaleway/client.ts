import { assignmentsOf } from './assignments.ts'
import { errorText, faultOf, vendor } from './errors.ts'
import { machinesOf } from './machines.ts'
import { projectAt } from './project.ts'
import { reservationsOf } from './reservations.ts'
import { vendorHttp, type VendorHttpOptions } from '../http/client.ts'
import type { Assignments } from '../ports/assignments.ts'
import type { Vendor } from '../ports/cloud-provider.ts'

export type ScalewayOptions = {
  /** The secret key of an API key. */
  apiKey: { reveal(): string }
  projectId: string
  zone: string
  userAgent: string
  baseUrl?: string | undefined
  /** How often a change that runs is looked at. */
  pollMs?: number
} & Pick<VendorHttpOptions, 'inFlight' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'proxy' | 'observe'>

/** A project of Scaleway in one zone: its Elastic Metal servers and their flexible IPs. It has no BGP with tenants. */
export function scaleway(options: ScalewayOptions): Vendor & { assignments: Assignments } {
  const { apiKey, projectId, zone, baseUrl, pollMs = 1_000, ...tuning } = options
  const http = vendorHttp({
    ...tuning,
    vendor,
    baseUrl: baseUrl ?? 'https://api.scaleway.com',
    headers: () => ({ 'x-auth-token': apiKey.reveal() }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may manage Elastic Metal and its flexible IPs in project ${projectId}`,
      quota: 'delete flexible IPs that are not used, or have the quota of the organization raised',
    },
  })
  const project = projectAt(http, { id: projectId, zone, pollMs })
  return { name: vendor, ...reservationsOf(project), ...machinesOf(project), assignments: assignmentsOf(project) }
}
