import type { Problem } from '../announcer.ts'
import { nameOf, parseAddress } from '../shared/address.ts'
import { hostnameLabel, type Session, type Sessions, sessionProblem } from '../shared/sessions.ts'
import { type LabelSelector, matchesSelector } from '../../lib/label-selector.ts'
import { hashForName } from '../../lib/names.ts'
import { distinct, compareTexts, mostCommon } from '../shared/order.ts'
import { isCounting } from './ownership.ts'
import type { BGPPeer } from './resources.ts'

/** A BGPPeer to write: one session, or the common part of several nodes' sessions with one router. */
export type Draft = { name: string; nodes: string[]; session: Session; selector: LabelSelector; source?: string }

export type Drafts = { drafts: Draft[]; problems: Problem[] }

/** Makes a BGPPeer for each session, which MetalLB accepts without FRR. */
export function peerPerSession({ sessions, problems }: Sessions): Drafts {
  const drafts = sessions.map((session) => {
    const { node, hostname, router, source } = session
    // The name of an object has at most 253 characters, and the name of a node may use all of them.
    const ofNode = node.length <= 200 ? node : `node-${hashForName(node, 32)}`
    const selector = { matchLabels: { [hostnameLabel]: hostname } }
    return { name: `${ofNode}.${nameOf(router)}`, nodes: [node], session, selector, source: source.text }
  })
  return { drafts, problems }
}

/**
 * Makes a BGPPeer for each router, whatever the number of nodes. In FRR mode, MetalLB up to 0.15.3 refuses two peers
 * with one router or with different local AS numbers, even if no node uses both. Foreign peers count too.
 */
export function peerPerRouter(
  { sessions, problems }: Sessions,
  existing: { ours: BGPPeer[]; foreign: BGPPeer[] },
): Drafts {
  const refused: Problem[] = []
  const accept = (session: Session, reason: string | undefined) => {
    if (reason !== undefined) refused.push(sessionProblem(session.node, reason))
    return reason === undefined
  }
  const unclaimed = sessions.filter((session) => accept(session, conflictReason(session, existing)))
  const asn = mostCommon(unclaimed.map(({ localAsn }) => String(localAsn)))
  const ofOneAs = unclaimed.filter((session) => accept(session, minorityReason(asn, String(session.localAsn))))
  const drafts = [...Map.groupBy(ofOneAs, nameOfShared)].flatMap(([name, group]) => {
    const most = mostCommon(group.map(sharedFields))
    const alike = group.filter((session) => accept(session, minorityReason(most, sharedFields(session))))
    return alike.slice(0, 1).map((session) => ({ name, session, ...groupFields(alike) }))
  })
  return {
    drafts: drafts.toSorted((one, other) => compareTexts(one.name, other.name)),
    problems: [...problems, ...refused],
  }
}

function minorityReason(most: string | undefined, own: string): string | undefined {
  return most === own
    ? undefined
    : 'its AS number, hops or password differ from those of most nodes, and FRR can use only one'
}

function sharedFields({ peerAsn, isMultihop, password }: Session): string {
  return JSON.stringify([peerAsn, isMultihop, password])
}

/** Contains the AS number: a changed number needs new peers, because it cannot change on all nodes at once. */
function nameOfShared({ localAsn, router }: Session): string {
  return `as${localAsn}.${nameOf(router)}`
}

function groupFields(alike: Session[]): Pick<Draft, 'nodes' | 'selector'> {
  const values = distinct(alike.map(({ hostname }) => hostname))
  const selector = { matchExpressions: [{ key: hostnameLabel, operator: 'In', values }] }
  return { nodes: distinct(alike.map(({ node }) => node)), selector }
}

/**
 * Why a foreign peer makes a session impossible. If ours already exists beside a foreign one, this MetalLB checks each
 * node separately. A node that our peer selects keeps its session.
 */
function conflictReason(
  session: Session,
  { ours, foreign }: { ours: BGPPeer[]; foreign: BGPPeer[] },
): string | undefined {
  const name = nameOfShared(session)
  const own = ours.find(({ metadata }) => metadata.name === name) ?? ours.find((one) => isShared(one, session))
  if (own && isForHostname(own, session)) return undefined
  const found = foreign.find((one) => isInConflict(one, session) && (!own || isForHostname(one, session)))
  return (
    found &&
    `it conflicts with BGPPeer ${found.metadata.name}, which eip-admission does not manage: FRR has one AS number and one session for each router`
  )
}

/** Whether a peer with another name can be the shared peer of a session. Another AS number needs another peer. */
export function isShared({ spec }: BGPPeer, { localAsn, router }: Session): boolean {
  return !spec.vrf && spec.myASN === localAsn && parseAddress(spec.peerAddress ?? '')?.text === router.text
}

/** FRR acts as one router, with one router ID, one AS number, and one session with each neighbour. */
function isInConflict({ spec }: BGPPeer, { router, localAsn }: Session): boolean {
  const { vrf, routerID, myASN, peerAddress = '' } = spec
  if (vrf) return routerID !== undefined && routerID !== ''
  return Boolean(routerID) || myASN !== localAsn || parseAddress(peerAddress)?.text === router.text
}

/** Whether a peer may select a node, judged by its hostname alone. */
function isForHostname({ spec: { nodeSelectors = [] } }: BGPPeer, { hostname }: Session): boolean {
  const labels = { [hostnameLabel]: hostname }
  const known = nodeSelectors
    .filter((one) => !isCounting(one))
    .map(({ matchLabels = {}, matchExpressions = [] }) => ({
      matchLabels: Object.fromEntries(Object.entries(matchLabels).filter(([name]) => name === hostnameLabel)),
      matchExpressions: matchExpressions.filter(({ key }) => key === hostnameLabel),
    }))
  return nodeSelectors.length === 0 || known.some((selector) => matchesSelector(labels, selector))
}
