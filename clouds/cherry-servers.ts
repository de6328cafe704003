import { listLocations } from './cherry-servers/locations.ts'
import { machinesOf } from './cherry-servers/machines.ts'
import { peeringOf } from './cherry-servers/peering.ts'
import { projectAt } from './cherry-servers/project.ts'
import { reservationsOf } from './cherry-servers/reservations.ts'
import type { Fault } from './cloud.ts'
import { vendorHttp, type VendorHttpOptions } from './http.ts'
import type { Refusal } from './http/faults.ts'
import { fieldsOf, itemsOf, textOf } from './loose-json.ts'
import type { Vendor } from './vendor.ts'

const cherryServersUrl = 'https://api.cherryservers.com/v1'

/**
 * More than four calls in a second may be refused. Three are made, two at a time: the fifth comes 300 ms after that second,
 * which is what calls may overtake each other by on their way.
 */
const usualRate = { calls: 2, perMs: 650 }

export type CherryServersOptions = {
  apiKey: { reveal(): string }
  projectId: string
  userAgent: string
  /** With or without the version that the API's paths begin with. */
  baseUrl?: string | undefined
} & Pick<VendorHttpOptions, 'inFlight' | 'rate' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'observe'>

/** One project of Cherry Servers: its floating IPs, its servers and their BGP. */
export function cherryServers({ apiKey, projectId, baseUrl, rate, ...tuning }: CherryServersOptions): Required<Vendor> {
  const http = vendorHttp({
    ...tuning,
    rate: rate ?? usualRate,
    vendor: 'Cherry Servers',
    baseUrl: withVersion(baseUrl ?? cherryServersUrl),
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may read and write in project ${projectId}`,
      quota: 'release addresses that nobody needs, or have the limit raised: it grows with the number of servers',
    },
  })
  const project = projectAt(http, projectId)
  return {
    name: 'Cherry Servers',
    ...reservationsOf(project),
    locations: (signal) => listLocations(project, signal),
    ...machinesOf(project),
    peering: peeringOf(project),
  }
}

/** Other tools take the host alone, so people may have written no more. */
function withVersion(baseUrl: string): string {
  const { pathname, search, hash } = URL.parse(baseUrl) ?? {}
  return pathname === '/' && !search && !hash ? baseUrl.replace(/\/*$/, '/v1') : baseUrl
}

/** `message` is what the API says; older clients knew the others as well. */
function errorText(body: unknown): string | undefined {
  const { message, error, errors } = fieldsOf(body)
  const texts = itemsOf(errors)?.flatMap((one) => textOf(one) ?? []) ?? []
  return textOf(message) ?? textOf(error) ?? textOf(texts.join('; '))
}

/** Cherry Servers says 400 to all that cannot be done, and why only in words that are not documented. */
function faultOf({ name, status, text }: Refusal): Fault | undefined {
  if (status !== 400) return undefined
  // Nothing in a DELETE can be wrong but its time: somebody has put the address to use.
  if (name === 'release') return 'conflict'
  const isQuota = /quota|limit|exceed|maximum|insufficient|not enough|no available/i.test(text ?? '')
  return name === 'reserve' && isQuota ? 'quota' : 'invalid'
}
