import type { NodePeers, Peer, Problem } from '../announcer.ts'
import type { IpAddress, IpFamily } from '../../lib/ip-address.ts'
import { isLabelValue } from '../../lib/names.ts'
import { parseAddress } from './address.ts'
import { distinctProblems, inOrder } from './order.ts'

/** A BGP session that MetalLB can be told of. */
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

export type Sessions = { sessions: Session[]; problems: Problem[] }

/**
 * Every session of a state that MetalLB can be told of, in order, and what is wrong with the others. No two share node
 * and router, no two nodes a hostname, and no node has two.
 */
export function possibleSessions(nodes: readonly NodePeers[], families: readonly IpFamily[]): Sessions {
  const possible: Session[] = []
  const problems: Problem[] = []
  for (const { node, hostname, peers } of nodes) {
    for (const peer of peers) {
      const session = read({ node, hostname }, peer, families)
      if (typeof session === 'string') problems.push(noSession(node, session))
      else possible.push(session)
    }
  }
  const ranks = new Map(possible.map((session) => [session, rank(session)]))
  possible.sort((one, other) => inOrder(ranks.get(one) ?? '', ranks.get(other) ?? ''))
  const kept = new Map<string, Session>()
  const nodeOf = new Map<string, string>()
  const hostnameOf = new Map<string, string>()
  for (const session of possible) {
    const { node, hostname, router } = session
    if (!nodeOf.has(hostname)) nodeOf.set(hostname, node)
    if (!hostnameOf.has(node)) hostnameOf.set(node, hostname)
    const place = `${node} ${router.text}`
    const why = unavailableReason(session, {
      node: nodeOf.get(hostname),
      hostname: hostnameOf.get(node),
      taken: kept.get(place),
    })
    if (why === undefined) kept.set(place, session)
    else problems.push(noSession(node, why))
  }
  return { sessions: [...kept.values()], problems: distinctProblems(problems) }
}

/** Says of a node why MetalLB is not told of a session. */
export function noSession(node: string, why: string): Problem {
  return { concern: { node }, message: `a BGP session is not configured: ${why}` }
}

type Before = { node: string | undefined; hostname: string | undefined; taken: Session | undefined }

function unavailableReason(session: Session, { node, hostname, taken }: Before): string | undefined {
  if (node !== session.node) return `node ${node} has the same label kubernetes.io/hostname=${session.hostname}`
  if (hostname !== session.hostname) return `the node goes by two names, ${hostname} and ${session.hostname}`
  if (taken && rank(taken) !== rank(session)) return `there are two with ${session.router.text}, unlike each other`
  return undefined
}

function read(at: { node: string; hostname: string }, peer: Peer, families: readonly IpFamily[]): Session | string {
  const { localAsn, peerAsn, isMultihop } = peer
  const router = parseAddress(peer.peerAddress)
  const source = parseAddress(peer.sourceAddress)
  const password = peer.password?.reveal() || undefined
  if (at.hostname === '' || !isLabelValue(at.hostname)) return 'the node has no label kubernetes.io/hostname'
  if (!router) return `its router's address is ${JSON.stringify(peer.peerAddress)}`
  if (!families.includes(router.family)) return `${router.text} is IPv6, which MetalLB speaks only by FRR`
  if (source?.family !== router.family) return `its own address is ${JSON.stringify(peer.sourceAddress)}`
  if (!isAsn(localAsn) || !isAsn(peerAsn)) return `its AS numbers are ${localAsn} and ${peerAsn}`
  if (password && /[\r\n]/.test(password)) return 'its password is more than one line'
  return { ...at, localAsn, peerAsn, router, source, isMultihop, password }
}

function isAsn(asn: number): boolean {
  return Number.isInteger(asn) && asn >= 1 && asn <= 4_294_967_295
}

/** One text for equal sessions, and for no others; never shown, as the password is in it. */
function rank({ hostname, node, router, source, localAsn, peerAsn, isMultihop, password }: Session): string {
  return JSON.stringify([hostname, node, router.text, localAsn, peerAsn, source.text, isMultihop, password])
}
