import { unlessDone } from '../ports/vendor-errors.ts'
import type { Peer, Peering, ProjectPeering, SeenSessions } from '../ports/peering.ts'
import { unreadableError } from './errors.ts'
import { isIpv4, machineOf, parsePeers, parseProjectPeering, parseSession } from './parse-peering.ts'
import { type Project, projectHints } from './project.ts'
import { wholeList } from './whole-list.ts'

/** How many addresses the routers accept from a node: max_prefix of the project, which only the vendor's support changes. */
export const maxPrefixes = 10

/** By the documentation it has no pages, so we send no page size. */
const sessionList = { name: 'sessions', query: {}, field: 'bgp_sessions' }

/** BGP of a project and, for IPv4, of its machines. */
export function peeringOf(project: Project): Peering {
  return {
    project: (signal) => findPeering(project, signal),
    enable: (wanted, signal) => enable(project, wanted, signal),
    machines: async (signal) => new Set((await listSessions(project, signal)).keys()),
    sessions: (signal) => listSessions(project, signal),
    enableOn: (machine, signal) => enableOn(project, machine, signal),
    peers: (machine, signal) => listPeers(project, machine, signal),
  }
}

async function findPeering({ http, id }: Project, signal: AbortSignal): Promise<ProjectPeering | undefined> {
  const path = ['projects', id, 'bgp-config']
  const { body } = await http.call({ name: 'peering', method: 'GET', path, hints: projectHints }, signal)
  const peering = parseProjectPeering(body)
  if (!peering) throw unreadableError('peering', 'no BGP configuration')
  return peering === 'off' ? undefined : peering
}

async function enable(project: Project, { asn, password }: ProjectPeering, signal: AbortSignal): Promise<void> {
  const md5 = password?.reveal()
  const body = {
    deployment_type: 'local',
    ...(asn && { asn }),
    use_case: 'kubernetes-load-balancer',
    ...(md5 && { md5 }),
  }
  const path = ['projects', project.id, 'bgp-configs']
  const hints = {
    invalid: 'check the project id, the ASN, and that a password is 10 to 20 letters, lower and upper case, and digits',
  }
  const secrets = md5 ? [md5] : []
  const call = project.http.call({ name: 'enable-peering', method: 'POST', path, body, hints, secrets }, signal)
  await unlessDone(call, async () => (await findPeering(project, signal)) !== undefined)
}

/** A session for each machine, in place of its sessions with all routers. */
async function listSessions({ http, id }: Project, signal: AbortSignal): Promise<Map<string, SeenSessions>> {
  const path = ['projects', id, 'bgp', 'sessions']
  const sessions = await wholeList(http, { ...sessionList, path, hints: projectHints }, signal)
  return new Map(
    sessions.filter(isIpv4).flatMap((session): [string, SeenSessions][] => {
      const machine = machineOf(session)
      return machine === undefined ? [] : [[machine, parseSession(session)]]
    }),
  )
}

async function enableOn({ http, id }: Project, machine: string, signal: AbortSignal): Promise<void> {
  const path = ['devices', machine, 'bgp', 'sessions']
  const body = { address_family: 'ipv4' }
  const hints = { invalid: `check that the machine exists, and that BGP is enabled and approved on project ${id}` }
  const call = http.call({ name: 'enable-session', method: 'POST', path, body, hints }, signal)
  await unlessDone(call, async () => (await wholeList(http, { ...sessionList, path, hints }, signal)).some(isIpv4))
}

async function listPeers(project: Project, machine: string, signal: AbortSignal): Promise<Peer[]> {
  const path = ['devices', machine, 'bgp', 'neighbors']
  const hints = { invalid: 'check that the machine exists' }
  const { body } = await project.http.call({ name: 'peers', method: 'GET', path, hints }, signal)
  const peers = parsePeers(body, project)
  if (!peers) throw unreadableError('peers', 'an incomplete list of BGP neighbors')
  return peers
}
