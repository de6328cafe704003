import { assignmentsOf } from './assignments.ts'
import { errorText, faultOf, vendor } from './errors.ts'
import { machinesOf } from './machines.ts'
import { peeringOf } from './peering.ts'
import { projectAt } from './project.ts'
import { reservationsOf } from './reservations.ts'
import { vendorHttp, type VendorHttpOptions } from '../http/client.ts'
import type { WholeVendor } from '../ports/vendor.ts'

const cherryServersUrl = 'https://api.cherryservers.com/v1'

/**
 * The cloud may refuse more than four calls in a second. We begin two calls every 650 ms: the fifth begins 300 ms after that
 * second, as calls may overtake each other on their way.
 */
const usualRate = { calls: 2, perMs: 650 }

export type CherryServersOptions = {
  apiKey: { reveal(): string }
  projectId: string
  userAgent: string
  /** With or without the version with which the API's paths begin. */
  baseUrl?: string | undefined
} & Pick<
  VendorHttpOptions,
  'inFlight' | 'rate' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'proxy' | 'observe'
>

/** A project of Cherry Servers: its floating IPs, its servers and their BGP. */
export function cherryServers({ apiKey, projectId, baseUrl, rate, ...tuning }: CherryServersOptions): WholeVendor {
  const http = vendorHttp({
    ...tuning,
    rate: rate ?? usualRate,
    vendor,
    baseUrl: withVersion(baseUrl ?? cherryServersUrl),
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may read and write in project ${projectId}`,
      quota: 'delete addresses that are not used, or have the limit raised: it grows with the number of servers',
    },
  })
  const project = projectAt(http, projectId)
  return {
    name: vendor,
    ...reservationsOf(project),
    ...machinesOf(project),
    peering: peeringOf(project),
    assignments: assignmentsOf(project),
  }
}

/** Other tools accept only the host, so people may write only that. */
function withVersion(baseUrl: string): string {
  const { pathname, search, hash } = URL.parse(baseUrl) ?? {}
  return pathname === '/' && !search && !hash ? baseUrl.replace(/\/*$/, '/v1') : baseUrl
}
