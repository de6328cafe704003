import { randomBytes } from 'node:crypto'
import { invalid, refused } from './errors.ts'
import { locationIn } from './route-context.ts'
import type { PeerGroup, State } from './state.ts'

type Body = Record<string, unknown>

/** The ASN that the vendor proposes. Any other one is the customer's own. */
export const usualAsn = 65_401
const password = /^[a-zA-Z0-9!@#$%^&*()\-|[\]{}=;:<>,.]{8,32}$/

/** Creates the peer group of a location, which is ready after a while. */
export function createPeerGroup(state: State, account: string, body: Body): PeerGroup {
  const location = locationIn(body['location'])
  const asn = readAsn(body['asn'] ?? usualAsn)
  const advertisedRoutes = readRoutes(body['advertisedRoutes'] ?? 'NONE')
  const md5 = body['password'] === undefined ? randomBytes(10).toString('hex') : readPassword(body['password'])
  if ([...state.groups.values()].some((one) => one.account === account && one.location === location))
    throw refused(Number(state.behaviour.secondGroup), `A BGP Peer Group already exists in location ${location}.`)
  const times = { createdAtMs: state.now(), updatedAtMs: state.now() }
  const facts = { id: state.newId(), account, location, targetAsn: asn, password: md5, advertisedRoutes, ...times }
  const group: PeerGroup = { ...facts, status: 'PENDING', activeAsn: undefined }
  state.groups.set(group.id, group)
  settleLater(state, group)
  return group
}

/** Changes a peer group; the previous ASN stays active until the change completes. */
export function changePeerGroup(state: State, group: PeerGroup, body: Body): void {
  refuseDeleted(group)
  if (body['asn'] !== undefined) group.targetAsn = readAsn(body['asn'])
  if (body['password'] !== undefined) group.password = readPassword(body['password'])
  if (body['advertisedRoutes'] !== undefined) group.advertisedRoutes = readRoutes(body['advertisedRoutes'])
  Object.assign(group, { status: 'PENDING', updatedAtMs: state.now() })
  settleLater(state, group)
}

/** Deletes a peer group, after a while. */
export function deletePeerGroup(state: State, group: PeerGroup): void {
  refuseDeleted(group)
  group.status = 'PENDING_DELETION'
  state.later(() => void state.groups.delete(group.id))
}

function refuseDeleted({ status }: PeerGroup): void {
  if (status === 'PENDING_DELETION') throw refused(409)
}

function settleLater(state: State, group: PeerGroup): void {
  state.later(() => {
    if (group.status === 'PENDING') Object.assign(group, { status: 'READY', activeAsn: group.targetAsn })
  })
}

function readAsn(given: unknown): number {
  if (Number.isInteger(given) && Number(given) > 0 && Number(given) < 2 ** 32) return Number(given)
  throw invalid('asn: must be a number of an autonomous system')
}

function readRoutes(given: unknown): PeerGroup['advertisedRoutes'] {
  if (given === 'DEFAULT' || given === 'NONE') return given
  throw invalid('advertisedRoutes: must be DEFAULT or NONE')
}

function readPassword(given: unknown): string {
  if (typeof given === 'string' && password.test(given)) return given
  throw invalid('password: must be 8 to 32 letters, digits and special characters')
}
