import { isIPv4 } from 'node:net'
import { asnOf, fieldsOf } from '../http/loose-json.ts'
import type { Peer, Peering, ProjectPeering } from '../ports/peering.ts'
import { refusal, unreadableError } from './errors.ts'
import { parseServer, type Server } from './parse-server.ts'
import { type Project, projectHints } from './project.ts'

/** BGP of a project and of its machines. The provider chooses the AS number, and there are no passwords. */
export function peeringOf(project: Project): Peering {
  return {
    project: (signal) => findPeering(project, signal),
    enable: (_wanted, signal) => enable(project, signal),
    machines: async (signal) => new Set((await serversWithBgp(project, signal)).map(({ machine }) => machine.id)),
    sessions: async (signal) =>
      new Map((await serversWithBgp(project, signal)).map(({ machine, bgp }) => [machine.id, bgp.seen])),
    enableOn: (machine, signal) => enableOn(project, machine, signal),
    peers: (machine, signal) => listPeers(project, machine, signal),
  }
}

/** The AS number exists only some time after BGP was enabled on the first machine. */
async function findPeering({ http, id }: Project, signal: AbortSignal): Promise<ProjectPeering | undefined> {
  const path = ['projects', id]
  const { body } = await http.call({ name: 'peering', method: 'GET', path, hints: projectHints }, signal)
  const { enabled, local_asn } = fieldsOf(fieldsOf(body).bgp)
  if (typeof enabled !== 'boolean') throw unreadableError('peering', 'no field about BGP')
  return enabled ? { asn: asnOf(local_asn), password: undefined } : undefined
}

/** A PUT changes only the fields that it contains: a tool that sends more may disable BGP again. */
async function enable({ http, id }: Project, signal: AbortSignal): Promise<void> {
  const path = ['projects', id]
  const body = { bgp: true }
  await http.call({ name: 'enable-peering', method: 'PUT', path, body, hints: projectHints }, signal)
}

async function enableOn({ http, id, servers }: Project, machine: string, signal: AbortSignal): Promise<void> {
  const hints = { invalid: `check that the machine exists, and that BGP is enabled on project ${id}` }
  const path = ['servers', machine]
  try {
    await http.call({ name: 'enable-session', method: 'PUT', path, body: { bgp: true }, hints }, signal)
  } finally {
    servers.invalidate()
  }
}

/** If the list does not say it, servers are read one after another: others read too, and few calls are allowed. */
async function serversWithBgp(project: Project, signal: AbortSignal): Promise<Server[]> {
  const found: Server[] = []
  for (const listed of await project.servers.fresh(signal)) {
    const server = await withBgp(project, listed, signal)
    if (server?.bgp.isOn) found.push(server)
  }
  return found
}

/** A server with its BGP, if the API shows it; undefined if the server was deleted after the list. */
async function withBgp({ http }: Project, listed: Server, signal: AbortSignal): Promise<Server | undefined> {
  if (listed.bgp.isOn !== undefined) return listed
  const path = ['servers', listed.machine.id]
  const { status, body } = await http.call({ name: 'session', method: 'GET', path, accept: [404] }, signal)
  if (status === 404) return undefined
  const found = parseServer(body)
  if (found?.machine.id !== listed.machine.id) throw unreadableError('session', 'another object than the server')
  return found
}

async function listPeers(project: Project, machine: string, signal: AbortSignal): Promise<Peer[]> {
  const server = await withBgp(project, await findServer(project, machine, signal), signal)
  if (!server?.bgp.isOn) return []
  const localAsn = server.bgp.localAsn ?? (await findPeering(project, signal))?.asn
  if (localAsn === undefined) return []
  const peers = peersOf(server, localAsn)
  if (!peers) throw unreadableError('peers', 'a server without BGP peers or without a public address')
  return peers
}

/** All nodes need their machine at the same time, and a single list contains them all. */
async function findServer(project: Project, id: string, signal: AbortSignal): Promise<Server> {
  const isIt = ({ machine }: Server) => machine.id === id
  const found = (await project.servers.recent(signal)).find(isIt) ?? (await project.servers.fresh(signal)).find(isIt)
  if (found) return found
  throw refusal(`there is no server ${id} in project ${project.id}; check that the machine exists`, 'invalid')
}

/**
 * Undefined if the response lacks a part. The routers are in another network than the server, so sessions are
 * multi-hop.
 */
function peersOf({ machine, bgp: { peerAsn, peerAddresses } }: Server, localAsn: number): Peer[] | undefined {
  const own = machine.addresses.find(({ address, isPublic, isElastic }) => isPublic && !isElastic && isIPv4(address))
  if (peerAsn === undefined || peerAddresses === undefined || own === undefined) return undefined
  const session = { localAsn, peerAsn, sourceAddress: own.address, isMultihop: true, password: undefined }
  return peerAddresses.map((peerAddress) => ({ ...session, peerAddress }))
}
