import type { Lane } from '../http/lanes.ts'
import type { VendorCall } from '../http/request.ts'
import { textOf } from '../http/loose-json.ts'
import { errorText, refusal, unreadableError } from './errors.ts'
import { type FlexibleIp, parseFlexibleIp } from './parse-flexible-ip.ts'
import { type Project, pathOf } from './project.ts'

/** An address, read live; undefined is a proof that it is gone. */
export async function findFlexibleIp(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FlexibleIp | undefined> {
  const path = [...pathOf.addresses(project), id]
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path, accept: [403, 404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 403 || status === 404) {
    if (!(await isListed(project, { id, lane }, signal))) return undefined
    const text = textOf(errorText(body)) ?? 'no reason'
    if (status === 404) throw unreadableError('reservation', `404 (${text}) although the list has ${id}`)
    throw refusal(`403 (${text}) for address ${id}, which the list has: check that the API key may read it`, 'auth')
  }
  const found = parseFlexibleIp(body)
  if (!found) throw refusal(`${id} is no flexible IP with an address`, 'invalid')
  return found
}

/** Whether the complete list has an address. The API answers 403 for one that is gone as for one that it hides. */
export async function isListed(
  { addresses, addressesForMoves }: Project,
  { id, lane }: { id: string; lane: Lane },
  signal: AbortSignal,
): Promise<boolean> {
  const list = lane === 'move' ? addressesForMoves : addresses
  return (await list.fresh(signal)).some(({ reservation }) => reservation.id === id)
}
