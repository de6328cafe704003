import type { Cloud, Marks, Reservation, ReservationRequest } from '../ports/cloud.ts'
import { changesOf, hasMarks } from '../ports/marks.ts'
import { type Account, groupOf, pathOf, readList, findBlock, findListed } from './account.ts'
import { isRefused, unlessGone } from '../ports/vendor-errors.ts'
import { refusal, requireUnassigned, unreadableError } from './errors.ts'
import { parseBlock } from './parse-block.ts'
import { routingOf } from './parse-peer-group.ts'
import { type TagNames, tagNamesOf } from './tag-names.ts'
import { tagFilter, tagsOf, withMarks } from './tags.ts'

type Reserving = Account & { names: TagNames }

/** The IPv4 blocks of an account. Our address is a block of two, the smallest that the vendor sells. */
export function reservationsOf(account: Account): Omit<Cloud, 'name' | 'locations'> {
  const reserving = { ...account, names: tagNamesOf(account) }
  return {
    reservations: (marks, signal) => listReservations(account, marks, signal),
    reservation: async (id, signal) => (await findBlock(account, id, signal))?.reservation,
    reserve: (request, signal) => reserve(reserving, request, signal),
    ...changesOf({
      find: (id, signal) => findBlock(account, id, signal),
      write({ reservation: { id }, tags: before }, marks, signal) {
        const tags = withMarks(before, marks)
        const path = [...pathOf.blocks, id, 'tags']
        const put = () => account.http.call({ name: 'mark', method: 'PUT', path, body: tags }, signal)
        return unlessGone(reserving.names.before(tags, put, signal), isThere(account, id, signal), ['auth', 'invalid'])
      },
      requireUnassigned,
      remove(id, signal) {
        const path = [...pathOf.blocks, id]
        const deletion = account.http.call({ name: 'release', method: 'DELETE', path }, signal)
        return unlessGone(deletion, isThere(account, id, signal), ['auth', 'invalid'])
      },
    }),
    problems: (signal) => findProblems(account, signal),
  }
}

/** The API filters by one mark, and we compare the others. */
async function listReservations(account: Account, marks: Marks, signal: AbortSignal): Promise<Reservation[]> {
  const { cluster } = marks
  const listed =
    (cluster !== undefined && (await listTagged(account, cluster, signal))) || (await account.blocks.fresh(signal))
  return listed
    .flatMap((item) => parseBlock(item)?.reservation ?? [])
    .filter((reservation) => hasMarks(reservation.marks, marks))
}

/** The blocks of a cluster; undefined if the API refuses the filter, as it may before the tag's name exists. */
async function listTagged({ http }: Account, cluster: string, signal: AbortSignal) {
  const query = { tag: tagFilter('cluster', cluster) }
  try {
    return await readList(http, { name: 'reservations', method: 'GET', path: pathOf.blocks, query }, signal)
  } catch (error) {
    if (isRefused(error, ['invalid'])) return undefined
    throw error
  }
}

/** Orders a block, once: the API has no name or key by which it would recognize a second attempt. */
async function reserve(
  { http, location: here, names }: Reserving,
  { location, marks }: ReservationRequest,
  signal: AbortSignal,
): Promise<Reservation> {
  if (location !== here)
    throw refusal(`"${location}" is not the location in which addresses are reserved, ${here}`, 'invalid')
  const tags = tagsOf(marks)
  const body = { location, cidrBlockSize: '/31', description: 'eip-admission', tags }
  const hints = { invalid: `check that "${location}" is a location of phoenixNAP` }
  const order = () =>
    http.call({ name: 'reserve', method: 'POST', lane: 'reserve', path: pathOf.blocks, body, hints }, signal)
  const created = parseBlock((await names.before(tags, order, signal)).body)
  if (!created) throw unreadableError('reserve', 'an object without an id and a network', 'unknown')
  return created.reservation
}

function isThere(account: Account, id: string, signal: AbortSignal): () => Promise<boolean> {
  return async () => (await findListed(account, { list: 'blocks', id }, signal)) !== undefined
}

/** The reports of the location's routers about its blocks; none without a peer group. */
async function findProblems(
  { blocks, peerGroups, location }: Account,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const group = groupOf({ location }, await peerGroups.recent(signal))
  const { problem, failedBlocks } = routingOf(group ?? {})
  if (problem === undefined)
    return new Map(failedBlocks.map((id) => [id, 'the status of its prefix in the BGP peer group is ERROR']))
  const here = (await blocks.recent(signal)).filter((block) => block.location === location)
  return new Map(here.map(({ id }) => [String(id), problem]))
}
