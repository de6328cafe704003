import type { Lane } from '../http/lanes.ts'
import type { VendorCall } from '../http/request.ts'
import { fieldsOf } from '../http/loose-json.ts'
import { errorCode, refusal, requireSameId, unreadableError } from './errors.ts'
import { type FloatingIp, parseFloatingIp } from './parse-floating-ip.ts'
import type { Project } from './project.ts'

/** A floating IP, read live; undefined proves that it is deleted. */
export async function findFloatingIp(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FloatingIp | undefined> {
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path: ['floating_ips', id], accept: [404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 404) {
    // A proxy answers 404 as well.
    if (errorCode(body) === 'not_found') return undefined
    throw unreadableError('reservation', '404 and another reason than "not_found"')
  }
  const found = parseFloatingIp(fieldsOf(body).floating_ip)
  if (!found) throw refusal(`${id} is no floating IP with an address`, 'invalid')
  requireSameId(found.reservation, id)
  return found
}
