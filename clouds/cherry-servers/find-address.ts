import type { Lane } from '../http/lanes.ts'
import type { VendorCall } from '../http/request.ts'
import { refusal, requireSameId } from './errors.ts'
import { type Address, kindOf, parseAddress } from './parse-address.ts'
import type { Project } from './project.ts'

/** A floating IP; undefined if it does not exist. */
export async function findAddress(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<Address | undefined> {
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path: ['ips', id], accept: [403, 404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 404) return undefined
  // 403 means a deleted address or a key without the right: the list tells them apart.
  if (status === 403) return findListed(project, id, signal)
  const address = parseAddress(body)
  if (!address) throw refusal(`${id} is ${kindOf(body)}, not a floating IP`, 'invalid')
  requireSameId(address.reservation, id)
  return address
}

/** The same, from the list. */
export async function findListed(project: Project, id: string, signal: AbortSignal): Promise<Address | undefined> {
  return (await project.addresses.fresh(signal)).find(({ reservation }) => reservation.id === id)
}
