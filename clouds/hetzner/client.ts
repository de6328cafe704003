import { assignmentsOf } from './assignments.ts'
import { errorCode, errorText, faultOf, isDoubtful, vendor } from './errors.ts'
import { machinesOf } from './machines.ts'
import { projectAt } from './project.ts'
import { reservationsOf } from './reservations.ts'
import { vendorHttp, type VendorHttpOptions } from '../http/client.ts'
import type { Assignments } from '../ports/assignments.ts'
import type { Vendor } from '../ports/vendor.ts'

export type HetznerOptions = {
  apiKey: { reveal(): string }
  userAgent: string
  baseUrl?: string | undefined
} & Pick<VendorHttpOptions, 'inFlight' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'proxy' | 'observe'>

/** The project of one token of Hetzner Cloud: its floating IPs and its servers. It has no BGP with tenants. */
export function hetzner({ apiKey, baseUrl, ...tuning }: HetznerOptions): Vendor & { assignments: Assignments } {
  const http = vendorHttp({
    ...tuning,
    vendor,
    baseUrl: baseUrl ?? 'https://api.hetzner.cloud/v1',
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    errorText,
    errorCode,
    fault: faultOf,
    isDoubtful,
    // It says when all calls of an hour are allowed again. One is allowed each second.
    resetIsWait: false,
    hints: {
      auth: 'check that the API key is a token of the project with the right to read and write',
      quota: 'delete floating IPs that are not used, or have the limit of the project raised in the console',
    },
  })
  const project = projectAt(http)
  return { name: vendor, ...reservationsOf(project), ...machinesOf(project), assignments: assignmentsOf(project) }
}
