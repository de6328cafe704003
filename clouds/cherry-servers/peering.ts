import { isIPv4 } from 'node:net'
import { asnOf } from '../http/loose-bgp.ts'
import { fieldsOf } from '../http/loose-json.ts'
import type { Peer, Peering, ProjectPeering } from '../ports/peering.ts'
import { refusal, unreadableError } from './errors.ts'
import type { Server } from './parse-server.ts'
import { type Project, projectHints } from './project.ts'

/** BGP of a project and of its machines. The cloud chooses the AS number, and there are no passwords. */
export function peeringOf(project: Project): Peering {
  return {
    project: (signal) => findPeering(project, signal),
    enable: (_wanted, signal) => enable(project, signal),
    async machines(signal) {
      const servers = await project.servers.fresh(signal)
      return new Set(servers.filter(({ bgp }) => bgp.isOn).map(({ machine }) => machine.id))
    },
    async sessions(signal) {
      const on = (await project.servers.fresh(signal)).filter(({ bgp }) => bgp.isOn)
      return new Map(on.map(({ machine, bgp }) => [machine.id, bgp.seen]))
    },
    enableOn: (machine, signal) => enableOn(project, machine, signal),
    peers: (machine, signal) => listPeers(project, machine, signal),
  }
}

/** The AS number exists only some time after BGP is on for the first machine. */
async function findPeering({ http, id }: Project, signal: AbortSignal): Promise<ProjectPeering | undefined> {
  const path = ['projects', id]
  const { body } = await http.call({ name: 'peering', method: 'GET', path, hints: projectHints }, signal)
  const { enabled, local_asn } = fieldsOf(fieldsOf(body).bgp)
  if (typeof enabled !== 'boolean') throw unreadableError('peering', 'no field about BGP')
  return enabled ? { asn: asnOf(local_asn), password: undefined } : undefined
}

/** A PUT changes the fields that it contains and no others: a tool that sends more may turn BGP off again. */
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

async function listPeers(project: Project, machine: string, signal: AbortSignal): Promise<Peer[]> {
  const server = await findServer(project, machine, signal)
  if (!server.bgp.isOn) return []
  const localAsn = server.bgp.localAsn ?? (await findPeering(project, signal))?.asn
  if (localAsn === undefined) return []
  const peers = peersOf(server, localAsn)
  if (!peers) throw unreadableError('peers', 'a server without BGP peers or without a public address')
  return peers
}

/** All nodes need their machine at the same time, and one list contains them all. */
async function findServer(project: Project, id: string, signal: AbortSignal): Promise<Server> {
  const isIt = ({ machine }: Server) => machine.id === id
  const found = (await project.servers.recent(signal)).find(isIt) ?? (await project.servers.fresh(signal)).find(isIt)
  if (found) return found
  throw refusal(`there is no server ${id} in project ${project.id}; check that the machine exists`, 'invalid')
}

/** Undefined if the response lacks a part. The routers are in another network than the server, so sessions are multi-hop. */
function peersOf({ machine, bgp: { peerAsn, peerAddresses } }: Server, localAsn: number): Peer[] | undefined {
  const own = machine.addresses.find(({ address, isPublic, isElastic }) => isPublic && !isElastic && isIPv4(address))
  if (peerAsn === undefined || peerAddresses === undefined || own === undefined) return undefined
  const session = { localAsn, peerAsn, sourceAddress: own.address, isMultihop: true, password: undefined }
  return peerAddresses.map((peerAddress) => ({ ...session, peerAddress }))
}
