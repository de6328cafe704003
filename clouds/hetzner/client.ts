import { assignmentsOf } from './assignments.ts'
import { errorCode, errorText, faultOf, isDoubtful, vendor, refusal, requireSameId, unreadableError } from './errors.ts'
import { projectAt, type Project } from './project.ts'
import { reservationsOf } from './reservations.ts'
import { vendorHttp, type ClientOptions } from '../http/client.ts'
import type { Assignments } from '../ports/assignments.ts'
import type { Vendor } from '../ports/cloud-provider.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import { fieldsOf, itemsOf } from '../http/loose-json.ts'
import type { VendorCall } from '../http/request.ts'
import { parseServer } from './parse-server.ts'

/** The project of a Hetzner Cloud token: its floating IPs and its servers. The provider has no BGP with tenants. */
export function hetzner({ apiKey, ...tuning }: ClientOptions): Vendor & { assignments: Assignments } {
  const http = vendorHttp({
    ...tuning,
    vendor,
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    errorText,
    errorCode,
    fault: faultOf,
    isDoubtful,
    // The header says when all calls of an hour are allowed again, but one more is allowed each second.
    resetIsWait: false,
    hints: {
      auth: 'check that the API key is a token of the project with the right to read and write',
      quota: 'delete floating IPs that are not used, or have the limit of the project raised in the console',
    },
  })
  const project = projectAt(http)
  return { name: vendor, ...reservationsOf(project), ...machinesOf(project), assignments: assignmentsOf(project) }
}

function machinesOf(project: Project): Machines {
  return {
    machines: (signal) => project.servers.fresh(signal),
    machine: (id, signal) => findMachine(project, id, signal),
  }
}

async function findMachine(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const path = ['servers', id]
  const { status, body } = await project.http.call({ name: 'machine', method: 'GET', path, accept: [404] }, signal)
  if (status === 404) {
    if (errorCode(body) !== 'not_found') throw unreadableError('machine', '404 and another reason than "not_found"')
    return confirmGone(project, id, signal)
  }
  const machine = requireSameId(parseServer(fieldsOf(body).server), id, 'machine')
  if (machine.state === 'unknown') throw unreadableError('machine', `server ${id} in the state "unknown"`)
  return machine
}

/**
 * A token of another project sees no such server, and no answer names the project. A project without servers proves
 * nothing.
 */
async function confirmGone({ http }: Project, id: string, signal: AbortSignal): Promise<undefined> {
  const call: VendorCall = { name: 'machines', method: 'GET', path: ['servers'], query: { per_page: 1 } }
  const { body } = await http.call(call, signal)
  const servers = itemsOf(fieldsOf(body).servers)
  if (!servers) throw unreadableError('machines', 'no list')
  if (servers.length === 0)
    throw refusal(`server ${id} is not in the project of the token, and no other server is: check the token`, 'auth')
}
