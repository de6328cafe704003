import type { Problem } from '../announcer.ts'
import { nameOf, parseAddress } from './address.ts'
import { type LabelSelector, matchesSelector } from '../../lib/label-selector.ts'
import { hashForName } from '../../lib/names.ts'
import { distinct, inOrder, mostCommon } from './order.ts'
import type { BGPPeer } from './resources.ts'
import { type Session, type Sessions, noSession } from './sessions.ts'

/** A BGPPeer to be: one session, or what the sessions of several nodes with one router have in common. */
export type Draft = { name: string; nodes: string[]; session: Session; selector: LabelSelector; source?: string }

export type Drafts = { drafts: Draft[]; problems: Problem[] }

const hostnameLabel = 'kubernetes.io/hostname'

/** A BGPPeer for each session: what MetalLB by itself takes. */
export function peerPerSession({ sessions, problems }: Sessions): Drafts {
  const drafts = sessions.map((session) => {
    const { node, hostname, router, source } = session
    // The name of an object has 253 characters at most, and that of a node may have them all.
    const ofNode = node.length <= 200 ? node : `node-${hashForName(node, 32)}`
    const selector = { matchLabels: { [hostnameLabel]: hostname } }
    return { name: `${ofNode}.${nameOf(router)}`, nodes: [node], session, selector, source: source.text }
  })
  return { drafts, problems }
}

/**
 * A BGPPeer for each router, whatever the number of nodes: by FRR, MetalLB up to 0.15.3 takes no two with one router and
 * no two local AS numbers, even where no node is told of both. The peers that other people made count with them.
 */
export function peerPerRouter({ sessions, problems }: Sessions, there: { ours: BGPPeer[]; theirs: BGPPeer[] }): Drafts {
  const refused: Problem[] = []
  const keep = (session: Session, why: string | undefined) => {
    if (why !== undefined) refused.push(noSession(session.node, why))
    return why === undefined
  }
  const unclaimed = sessions.filter((session) => keep(session, clash(session, there)))
  const asn = mostCommon(unclaimed.map(({ localAsn }) => String(localAsn)))
  const ofOneAs = unclaimed.filter((session) => keep(session, otherThan(asn, String(session.localAsn))))
  const drafts = [...Map.groupBy(ofOneAs, nameOfShared)].flatMap(([name, group]) => {
    const most = mostCommon(group.map(manner))
    const alike = group.filter((session) => keep(session, otherThan(most, manner(session))))
    return alike.slice(0, 1).map((session) => ({ name, session, ...forAll(alike) }))
  })
  return { drafts: drafts.toSorted((one, other) => inOrder(one.name, other.name)), problems: [...problems, ...refused] }
}

function otherThan(most: string | undefined, own: string): string | undefined {
  return most === own ? undefined : 'most nodes speak otherwise with their routers, and FRR can do it in one way only'
}

function manner({ peerAsn, isMultihop, password }: Session): string {
  return JSON.stringify([peerAsn, isMultihop, password])
}

/** With the AS number: where it changed, all would have to change it at once. */
function nameOfShared({ localAsn, router }: Session): string {
  return `as${localAsn}.${nameOf(router)}`
}

function forAll(alike: Session[]): Pick<Draft, 'nodes' | 'selector'> {
  const values = distinct(alike.map(({ hostname }) => hostname))
  const selector = { matchExpressions: [{ key: hostnameLabel, operator: 'In', values }] }
  return { nodes: distinct(alike.map(({ node }) => node)), selector }
}

/**
 * Which of the other people's peers forbids a session. Where ours is beside theirs already, MetalLB is one that looks at
 * each node by itself; and what a node has it keeps.
 */
function clash(session: Session, { ours, theirs }: { ours: BGPPeer[]; theirs: BGPPeer[] }): string | undefined {
  const own = ours.find(({ metadata }) => metadata.name === nameOfShared(session))
  if (own && isOn(own, session)) return undefined
  const found = theirs.find((one) => isAgainst(one, session) && (!own || isOn(one, session)))
  return found && `BGPPeer ${found.metadata.name}, which is not ours, cannot be beside it by FRR`
}

/** FRR is one router: it has one id, one AS number, and one session with a neighbour. */
function isAgainst({ spec }: BGPPeer, { router, localAsn }: Session): boolean {
  const { vrf, routerID, myASN, peerAddress = '' } = spec
  if (vrf) return routerID !== undefined && routerID !== ''
  return Boolean(routerID) || myASN !== localAsn || parseAddress(peerAddress)?.text === router.text
}

/** Whether a peer may be for a node of which no more than the hostname is known. */
function isOn({ spec: { nodeSelectors = [] } }: BGPPeer, { hostname }: Session): boolean {
  const labels = { [hostnameLabel]: hostname }
  const known = nodeSelectors.map(({ matchLabels = {}, matchExpressions = [] }) => ({
    matchLabels: Object.fromEntries(Object.entries(matchLabels).filter(([name]) => name === hostnameLabel)),
    matchExpressions: matchExpressions.filter(({ key }) => key === hostnameLabel),
  }))
  return nodeSelectors.length === 0 || known.some((selector) => matchesSelector(labels, selector))
}
