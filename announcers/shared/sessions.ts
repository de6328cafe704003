import type { NodePeers, Peer, Problem, WantedObject } from '../announcer.ts'
import { type IpAddress, type IpFamily, familyNames } from '../../lib/ip-address.ts'
import { isLabelValue } from '../../lib/names.ts'
import { parseAddress } from './address.ts'
import { compareTexts, distinctProblems, mostCommon } from './order.ts'

/** The label by which announcing software finds the node of a session. */
export const hostnameLabel = 'kubernetes.io/hostname'

/** A BGP session that announcing software can be configured with. */
export type Session = {
  node: string
  hostname: string
  localAsn: number
  peerAsn: number
  router: IpAddress
  source: IpAddress
  isMultihop: boolean
  password: string | undefined
}

/** The families of routers that the software can speak with, and the phrase about others for messages. */
export type Families = { possible: readonly IpFamily[]; otherwise: string }

export type Sessions = { sessions: Session[]; problems: Problem[] }

/**
 * Every session of a state that announcing software can be configured with, in order, and problems for the others. No
 * two sessions share node and router, no two nodes share a hostname, and no node has two hostnames.
 */
export function possibleSessions(nodes: readonly NodePeers[], families: Families): Sessions {
  const possible: Session[] = []
  const problems: Problem[] = []
  for (const { node, hostname, peers } of nodes) {
    for (const peer of peers) {
      const session = readSession({ node, hostname }, peer, families)
      if (typeof session === 'string') problems.push(sessionProblem(node, session))
      else possible.push(session)
    }
  }
  const ranks = new Map(possible.map((session) => [session, rank(session)]))
  possible.sort((one, other) => compareTexts(ranks.get(one) ?? '', ranks.get(other) ?? ''))
  const kept = new Map<string, Session>()
  const nodeOf = new Map<string, string>()
  const hostnameOf = new Map<string, string>()
  for (const session of possible) {
    const { node, hostname, router } = session
    if (!nodeOf.has(hostname)) nodeOf.set(hostname, node)
    if (!hostnameOf.has(node)) hostnameOf.set(node, hostname)
    const place = `${node} ${router.text}`
    const reason = unavailableReason(session, {
      node: nodeOf.get(hostname),
      hostname: hostnameOf.get(node),
      taken: kept.get(place),
    })
    if (reason === undefined) kept.set(place, session)
    else problems.push(sessionProblem(node, reason))
  }
  return { sessions: [...kept.values()], problems: distinctProblems(problems) }
}

/** The problem of a node with a session that is not configured. */
export function sessionProblem(node: string, reason: string): Problem {
  return { subject: { node }, message: `a BGP session is not configured: ${reason}` }
}

/** Whether nodes have peers, but no object of the kind that starts sessions is wanted. */
export function lacksSessions(nodes: readonly NodePeers[], wanted: readonly WantedObject[], kind: string): boolean {
  return nodes.some(({ peers }) => peers.length > 0) && !wanted.some(({ object }) => object.kind === kind)
}

type FirstWith = { node: string | undefined; hostname: string | undefined; taken: Session | undefined }

function unavailableReason(session: Session, { node, hostname, taken }: FirstWith): string | undefined {
  if (node !== session.node) return `node ${node} has the same label kubernetes.io/hostname=${session.hostname}`
  if (hostname !== session.hostname) return `the node has two hostnames, ${hostname} and ${session.hostname}`
  if (taken && rank(taken) !== rank(session))
    return `the provider lists two different sessions with router ${session.router.text}`
  return undefined
}

function readSession(at: { node: string; hostname: string }, peer: Peer, families: Families): Session | string {
  const { localAsn, peerAsn, isMultihop } = peer
  const router = parseAddress(peer.peerAddress)
  const source = parseAddress(peer.sourceAddress)
  const password = peer.password?.reveal() || undefined
  if (at.hostname === '' || !isLabelValue(at.hostname)) return 'the node has no label kubernetes.io/hostname'
  if (!router) return `the router's address ${JSON.stringify(peer.peerAddress)} is not an IP address`
  if (!families.possible.includes(router.family))
    return `router ${router.text} is ${familyNames[router.family]}, ${families.otherwise}`
  if (source?.family !== router.family)
    return `the node's own address ${JSON.stringify(peer.sourceAddress)} is not of the family of router ${router.text}`
  if (!isAsn(localAsn) || !isAsn(peerAsn))
    return `an AS number is not from 1 to 4294967295: ${localAsn} of the node, ${peerAsn} of the router`
  if (password && /[\r\n]/.test(password)) return 'the password has more than one line'
  return { ...at, localAsn, peerAsn, router, source, isMultihop, password }
}

function isAsn(asn: number): boolean {
  return Number.isInteger(asn) && asn >= 1 && asn <= 4_294_967_295
}

/** The same text for equal sessions only; never shown, because it contains the password. */
function rank({ hostname, node, router, source, localAsn, peerAsn, isMultihop, password }: Session): string {
  return JSON.stringify([hostname, node, router.text, localAsn, peerAsn, source.text, isMultihop, password])
}

/** The sessions that can use the password of most sessions, because the one Secret holds one password. */
export function sessionsWithOnePassword({ sessions, problems }: Sessions): Sessions & { password: string | undefined } {
  const password = mostCommon(sessions.flatMap((session) => session.password ?? []))
  const isAlike = (own: string | undefined) => own === undefined || own === password
  const others = sessions.filter((session) => !isAlike(session.password))
  const reason = 'its password differs from that of most nodes, and only one can be configured'
  return {
    password,
    sessions: sessions.filter((session) => isAlike(session.password)),
    problems: [...problems, ...others.map(({ node }) => sessionProblem(node, reason))],
  }
}
