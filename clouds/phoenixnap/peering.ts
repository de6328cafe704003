import { isIPv4 } from 'node:net'
import { type Fields, textOf } from '../http/loose-json.ts'
import type { Peer, Peering, ProjectPeering } from '../ports/peering.ts'
import { type Account, groupOf, pathOf } from './account.ts'
import { isRefused } from '../ports/vendor-errors.ts'
import { refusal, unreadableError, vendor } from './errors.ts'
import { parseServers } from './machines.ts'
import { type PeerGroup, parsePeerGroup } from './parse-peer-group.ts'

export type PeeringOptions = {
  /** The AS number of the vendor's routers, which no API shows. */
  peerAsn: number
  /** Whether we may create the peer group of the location. */
  createsPeerGroup: boolean
}

/** The AS number that the vendor proposes for an account's servers. */
const usualAsn = 65_401

type Peered = Account & PeeringOptions

/**
 * BGP of the location. Its peer group belongs to the account: every server there may have sessions, and no call enables
 * it for a single one.
 */
export function peeringOf(account: Account, options: PeeringOptions): Peering {
  const peered = { ...account, ...options }
  return {
    async project(signal) {
      const group = await findGroup(account, signal)
      return group && { asn: group.localAsn, password: group.password }
    },
    enable: (wanted, signal) => enable(peered, wanted, signal),
    async machines(signal) {
      if (!(await findGroup(account, signal))) return new Set()
      return new Set((await account.servers.fresh(signal)).filter(isHere(account)).map(({ id }) => String(id)))
    },
    // The vendor does not show what its routers see.
    sessions: async () => new Map(),
    enableOn: (machine, signal) => checkOn(account, machine, signal),
    peers: (machine, signal) => listPeers(peered, machine, signal),
  }
}

async function findGroup(
  account: Account,
  signal: AbortSignal,
  how: 'fresh' | 'recent' = 'fresh',
): Promise<PeerGroup | undefined> {
  const group = groupOf(account, await account.peerGroups[how](signal))
  if (!group) return undefined
  const parsed = parsePeerGroup(group)
  if (!parsed) throw unreadableError('peering', 'a peer group without its loopbacks or its password')
  return parsed
}

/** Creates the peer group of the location, if the operator allows that. An existing one counts as success. */
async function enable(
  { http, peerGroups, location, createsPeerGroup }: Peered,
  { asn = usualAsn, password }: ProjectPeering,
  signal: AbortSignal,
): Promise<void> {
  if (!createsPeerGroup) throw refusal(`${withoutGroup(location)}, or set PNAP_CREATE_PEER_GROUP=true`, 'invalid')
  const md5 = password?.reveal()
  const body = { location, asn, advertisedRoutes: 'NONE', ...(md5 && { password: md5 }) }
  const hints = { invalid: `check that ${location} offers BGP, the ASN, and that a password has 8 to 32 characters` }
  const secrets = md5 ? [md5] : []
  try {
    await http.call({ name: 'enable-peering', method: 'POST', path: pathOf.peerGroups, body, hints, secrets }, signal)
  } catch (error) {
    // The status for a second group is not documented.
    const mayBeThere = isRefused(error, ['conflict', 'invalid'])
    if (!mayBeThere || !groupOf({ location }, await peerGroups.fresh(signal))) throw error
  } finally {
    peerGroups.invalidate()
  }
}

/** Nothing can be enabled for a single server: it has BGP with its location, or none at all. */
async function checkOn(account: Account, machine: string, signal: AbortSignal): Promise<void> {
  serverIn(account, machine, await account.servers.fresh(signal))
  if (!(await findGroup(account, signal)))
    throw refusal(
      `server ${machine} has no BGP, as there is none on project: ${withoutGroup(account.location)}`,
      'invalid',
    )
}

/** All nodes ask at the same time, and one list of each kind serves them all. */
async function listPeers(account: Peered, machine: string, signal: AbortSignal): Promise<Peer[]> {
  const server = await findServer(account, machine, signal)
  const group = await findGroup(account, signal, 'recent')
  if (group?.localAsn === undefined) return []
  const [read] = await parseServers(account, [server], signal)
  const own = read?.addresses.find(({ address, isPublic, isElastic }) => isPublic && !isElastic && isIPv4(address))
  if (!own)
    throw refusal(
      `server ${machine} has no public IPv4 address, from which its BGP sessions must come; give it one, or exclude its node`,
      'invalid',
    )
  const { localAsn, isMultihop, password } = group
  const session = { localAsn, peerAsn: account.peerAsn, sourceAddress: own.address, isMultihop, password }
  return group.peerAddresses.map((peerAddress) => ({ ...session, peerAddress }))
}

async function findServer(account: Account, id: string, signal: AbortSignal): Promise<Fields> {
  const recent = (await account.servers.recent(signal)).find((server) => server.id === id)
  return serverIn(account, id, recent ? [recent] : await account.servers.fresh(signal))
}

function serverIn(account: Account, id: string, servers: readonly Fields[]): Fields {
  const found = servers.find((server) => server.id === id)
  if (!found) throw refusal(`the account has no server ${id}; check that the machine exists`, 'invalid')
  if (isHere(account)(found)) return found
  const there = textOf(found.location) ?? 'no location'
  const advice = 'exclude its node by PNAP_BGP_NODE_SELECTOR'
  throw refusal(
    `server ${id} is in ${there}, whose routers know no address of ${account.location}; ${advice}`,
    'invalid',
  )
}

function isHere({ location }: Pick<Account, 'location'>): (server: Fields) => boolean {
  return (server) => server.location === location
}

function withoutGroup(location: string): string {
  return `location ${location} has no BGP peer group, without which ${vendor} announces nothing; create one in the portal`
}
