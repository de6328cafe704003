import { assignmentsOf } from './assignments.ts'
import { errorText, faultOf, vendor, requireSameId, unreadableError } from './errors.ts'
import { peeringOf } from './peering.ts'
import { projectAt, type Project, projectHints } from './project.ts'
import { reservationsOf } from './reservations.ts'
import { vendorHttp, type ClientOptions } from '../http/client.ts'
import type { WholeVendor } from '../ports/cloud-provider.ts'
import type { VendorCall } from '../http/request.ts'
import { itemsOf } from '../http/loose-json.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import { parsePower, parseServer } from './parse-server.ts'

/**
 * The API may refuse more than four calls per second. We begin two calls every 650 ms, so the fifth begins 300 ms after
 * that second: calls may overtake each other in transit.
 */
const usualRate = { calls: 2, perMs: 650 }

/** A project of Cherry Servers: its floating IPs, its servers and their BGP. */
export function cherryServers(options: ClientOptions & { projectId: string }): WholeVendor {
  const { apiKey, projectId, baseUrl, rate, ...tuning } = options
  const http = vendorHttp({
    ...tuning,
    rate: rate ?? usualRate,
    vendor,
    baseUrl: withVersion(baseUrl),
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

function machinesOf(project: Project): Machines {
  return {
    machines: async (signal) => (await project.servers.fresh(signal)).map(({ machine }) => machine),
    machine: (id, signal) => findMachine(project, id, signal),
  }
}

async function findMachine(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const call: VendorCall = { name: 'machine', method: 'GET', path: ['servers', id] }
  const { status, body } = await project.http.call({ ...call, accept: [404] }, signal)
  if (status === 404) return confirmGone(project, signal)
  const machine = requireSameId(parseServer(body)?.machine, id, 'machine')
  if (machine.state !== 'unknown') return machine
  const { body: found } = await project.http.call({ ...call, name: 'power', query: { fields: 'power' } }, signal)
  return { ...machine, state: parsePower(found) ?? 'on' }
}

/**
 * A key without rights in the project may get 404 for everything: the machine is gone only if the key still reads the
 * list.
 */
async function confirmGone({ http, id }: Project, signal: AbortSignal): Promise<undefined> {
  const path = ['projects', id, 'servers']
  const call: VendorCall = { name: 'machines', method: 'GET', path, query: { limit: 1 }, hints: projectHints }
  const { body } = await http.call(call, signal)
  if (!itemsOf(body)) throw unreadableError('machines', 'no list')
}
