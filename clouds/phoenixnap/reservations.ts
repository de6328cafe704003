import type { Cloud, Marked, Marks, Reservation, ReservationRequest } from '../ports/cloud.ts'
import { changedInTurn, hasMarks } from '../ports/marks.ts'
import { type Account, groupOf, pathOf, readList, findBlock, findListed } from './account.ts'
import { isRefused, refusal, requireUnassigned, unreadableError } from './errors.ts'
import { parseBlock } from './parse-block.ts'
import { routingOf } from './parse-peer-group.ts'
import { type TagNames, tagNamesOf } from './tag-names.ts'
import { tagFilter, tagsOf, withMarks } from './tags.ts'

type Reserving = Account & { names: TagNames }

/** The IPv4 blocks of an account. Our address is a block of two, the smallest that the vendor sells. */
export function reservationsOf(account: Account): Omit<Cloud, 'name' | 'locations'> {
  const reserving = { ...account, names: tagNamesOf(account) }
  return changedInTurn({
    reservations: (marks, signal) => listReservations(account, marks, signal),
    reservation: async (id, signal) => (await findBlock(account, id, signal))?.reservation,
    reserve: (request, signal) => reserve(reserving, request, signal),
    // Changes the tags of our marks. A PUT replaces all tags, which people edit too, so we read them first.
    async mark({ id, marks: before }, marks, signal) {
      const found = await findBlock(reserving, id, signal)
      if (!found || !hasMarks(found.reservation.marks, before)) return
      if (Object.entries(marks).every(([name, value]) => found.reservation.marks[name] === value)) return
      const tags = withMarks(found.tags, marks)
      const path = [...pathOf.blocks, id, 'tags']
      const write = () => reserving.http.call({ name: 'mark', method: 'PUT', path, body: tags }, signal)
      await unlessGone(reserving, { id, signal }, () => reserving.names.before(tags, write, signal))
    },
    release: (reservation, signal) => release(account, reservation, signal),
    problems: (signal) => findProblems(account, signal),
  })
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

/** Deletes an unused block. It is read first, so that our refusal names what uses it. */
async function release(account: Account, { id, marks }: Marked, signal: AbortSignal): Promise<void> {
  const found = await findBlock(account, id, signal)
  if (!found || !hasMarks(found.reservation.marks, marks)) return
  requireUnassigned(found.reservation)
  const path = [...pathOf.blocks, id]
  await unlessGone(account, { id, signal }, () =>
    account.http.call({ name: 'release', method: 'DELETE', path }, signal),
  )
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

/** After a successful read, a 403 means a read-only client, or a block that was deleted in between. */
async function unlessGone(
  account: Account,
  { id, signal }: { id: string; signal: AbortSignal },
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    const mayBeGone = isRefused(error, ['auth', 'invalid'])
    if (!mayBeGone || (await findListed(account, { list: 'blocks', id }, signal))) throw error
  }
}
