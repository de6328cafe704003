import type { Lane } from '../http/lanes.ts'
import type { VendorCall } from '../http/request.ts'
import { refusal, requireSameId } from './errors.ts'
import { type FlexibleIp, parseFlexibleIp } from './parse-flexible-ip.ts'
import { type Project, pathOf } from './project.ts'

/**
 * An address, read live; undefined proves that it is deleted. The API answers 403 for deleted addresses as for hidden
 * ones. So the complete list decides, even where it lags behind a deletion.
 */
export async function findFlexibleIp(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FlexibleIp | undefined> {
  const path = [...pathOf.addresses(project), id]
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path, accept: [403, 404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 403 || status === 404) return findListed(project, { id, lane }, signal)
  const found = parseFlexibleIp(body)
  if (!found) throw refusal(`${id} is no flexible IP with an address`, 'invalid')
  requireSameId(found.reservation, id)
  return found
}

/** The same, from the list. */
export async function findListed(
  { addresses, addressesForMoves }: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FlexibleIp | undefined> {
  const list = lane === 'move' ? addressesForMoves : addresses
  return (await list.fresh(signal)).find(({ reservation }) => reservation.id === id)
}
