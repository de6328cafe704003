import { CloudError } from '../ports/cloud.ts'
import type { VendorHttp } from '../http/client.ts'
import { sharedList } from '../http/shared-list.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { type Address, parseAddress } from './parse-address.ts'
import { parseServer, type Server } from './parse-server.ts'
import { type List, wholeList } from './whole-list.ts'

/** A project, its HTTP client and its lists. The cloud permits four calls a second, so callers share every list. */
export type Project = { http: VendorHttp; id: string; servers: SharedRead<Server[]>; addresses: SharedRead<Address[]> }

/** What to check when the cloud refuses a call about the project itself. */
export const projectHints = { invalid: 'check the project id' }

/** A project; nothing has been read yet. */
export function projectAt(http: VendorHttp, id: string): Project {
  const listed = <T>(list: Pick<List, 'name' | 'query'> & { of: string }, parse: (item: unknown) => T | undefined) => {
    const { name, of, query } = list
    const whole = { name, path: ['projects', id, of], query, hints: projectHints }
    const read = async (signal: AbortSignal) =>
      (await wholeList(http, whole, signal)).flatMap((item) => parse(item) ?? [])
    return sharedList({ what: `the ${name} of project ${id} of Cherry Servers`, read })
  }
  return {
    http,
    id,
    servers: listed({ name: 'machines', of: 'servers', query: {} }, parseServer),
    addresses: listed({ name: 'reservations', of: 'ips', query: { 'type[]': 'floating-ip' } }, parseAddress),
  }
}

/** The error of a response that lacks what the call requested. */
export function unreadableError(call: string, what: string, outcome: CloudError['outcome'] = 'nothing'): CloudError {
  return new CloudError(`Cherry Servers answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
}
