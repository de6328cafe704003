import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'
import { type SharedRead, sharedRead } from '../../lib/shared-read.ts'
import { type Address, parseAddress } from './parse-address.ts'
import { parseServer, type Server } from './parse-server.ts'
import { type List, wholeList } from './whole-list.ts'

/** A project, the door to it, and its lists: four calls a second are all there are, so nobody reads a list alone. */
export type Project = { http: VendorHttp; id: string; servers: SharedRead<Server[]>; addresses: SharedRead<Address[]> }

/** What to look at when a call about the project itself is refused. */
export const projectHints = { invalid: 'check the project id' }

/** As long as the questions of a round about all machines take to come in. */
const recentMs = 2_000

/** A project of which nothing has been read yet. */
export function projectAt(http: VendorHttp, id: string): Project {
  const listed = <T>(list: Pick<List, 'name' | 'query'> & { of: string }, parse: (item: unknown) => T | undefined) => {
    const { name, of, query } = list
    const whole = { name, path: ['projects', id, of], query, hints: projectHints }
    const read = async (signal: AbortSignal) =>
      (await wholeList(http, whole, signal)).flatMap((item) => parse(item) ?? [])
    const abandonedError = (cause: unknown) =>
      new CloudError(`reading the ${name} of project ${id} of Cherry Servers was canceled`, {
        fault: 'unavailable',
        outcome: 'nothing',
        cause,
      })
    return sharedRead({ read, recentMs, abandonedError })
  }
  return {
    http,
    id,
    servers: listed({ name: 'machines', of: 'servers', query: {} }, parseServer),
    addresses: listed({ name: 'reservations', of: 'ips', query: { 'type[]': 'floating-ip' } }, parseAddress),
  }
}

/** An answer that came, and does not say what it was asked for. */
export function unreadableError(call: string, what: string, outcome: CloudError['outcome'] = 'nothing'): CloudError {
  return new CloudError(`Cherry Servers answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
}
