import type { Node } from '../../../kube/objects.ts'
import type { LabelSelector } from '../../../lib/label-selector.ts'
import { parseAddress } from '../../shared/address.ts'
import { compareTexts } from '../../shared/order.ts'
import { hostnameLabel } from '../../shared/sessions.ts'
import { hostnamesOf } from '../adopt-peers.ts'
import { isWritten } from '../../shared/own-objects.ts'
import { isCounting, withoutOwnLabel } from '../ownership.ts'
import type { BGPPeer } from '../resources.ts'

/** A peer that the predecessor wrote, without its password and the selectors that count Services. */
type FoundPeer = { name: string; spec: Record<string, unknown> }

/** The label of the region of a node. */
export const regionLabel = 'topology.kubernetes.io/region'

export type PeerFacts = {
  /** The peers that the predecessor wrote. */
  found: readonly FoundPeer[]
  nodes: readonly Node[]
  /** Selectors that match no node, with which the predecessor counts the current Services. */
  counting: readonly LabelSelector[]
  /** The labels of the predecessor's objects. */
  labels: Record<string, string>
  /** The predecessor's usual values, if no found peer shows them. */
  usual: Record<string, unknown>
  password: string | undefined
}

type Spec = BGPPeer['spec']

/**
 * The peers as the predecessor would write them. It adopts peers that have its own names and count every Service. For
 * each peer with another name it would write a second one.
 */
export function predecessorPeers(ours: readonly BGPPeer[], facts: PeerFacts): BGPPeer[] {
  const untouched = ours.filter((peer) => !isWritten(peer))
  const taken = new Set(untouched.map(({ metadata }) => metadata.name))
  const known = new Map(facts.found.map((one) => [one.name, one]))
  const written = ours.filter(isWritten)
  const adopted = written.flatMap((peer) => {
    const before = known.get(peer.metadata.name)
    return before ? [restored(peer, before, facts)] : []
  })
  for (const { metadata } of adopted) taken.add(metadata.name)
  const added = written.filter(({ metadata }) => !known.has(metadata.name))
  return [...untouched, ...adopted, ...added.flatMap((peer) => renamed(peer, facts, taken))]
}

/** A found peer with its former fields. */
function restored(peer: BGPPeer, before: FoundPeer, facts: PeerFacts): BGPPeer {
  const found = before.spec as Spec
  const counted = withCounts(peer.spec.nodeSelectors ?? [], found.nodeSelectors ?? [], facts.counting)
  const extra = Object.keys(peer.spec).filter((name) => !(name in found) && !secretFields.has(name))
  return {
    ...peer,
    metadata: { name: peer.metadata.name, namespace: peer.metadata.namespace ?? '', labels: withoutOwnLabel() },
    spec: {
      ...found,
      ...(Object.fromEntries(extra.map((name) => [name, null])) as Partial<Spec>),
      ...plainPassword(peer.spec, facts.password),
      nodeSelectors: counted,
    },
  }
}

const secretFields = new Set(['password', 'passwordSecret'])

/** Our peer as one or more of the predecessor's: one for each node or each region. */
function renamed(peer: BGPPeer, facts: PeerFacts, taken: Set<string>): BGPPeer[] {
  const hostnames = hostnamesOf(peer.spec) ?? []
  const nodes = facts.nodes.filter((node) => hostnames.includes(hostnameOf(node)))
  const isShared = (peer.spec.nodeSelectors ?? []).some(({ matchExpressions = [] }) => matchExpressions.length > 0)
  const places = isShared
    ? nodes.flatMap(({ metadata }) => metadata.labels?.[regionLabel] ?? [])
    : nodes.map(({ metadata }) => metadata.name)
  return [...new Set(places)].map((place) => {
    const own = isShared ? [regionSelector(place, facts)] : ownSelectors(peer.spec)
    const name = freeName(isShared ? place.toLowerCase() : place, indexOf(peer, place, facts), taken)
    taken.add(name)
    const { nodeSelectors: _selectors, passwordSecret: _secret, ...spec } = peer.spec
    const { password } = plainPassword(peer.spec, facts.password)
    return {
      apiVersion: peer.apiVersion,
      kind: peer.kind,
      metadata: { name, namespace: peer.metadata.namespace ?? '', labels: facts.labels },
      spec: {
        ...withoutEmpty(spec),
        ...styleOf(peer, facts),
        ...(password !== undefined && { password }),
        nodeSelectors: [...own, ...facts.counting],
      },
    }
  })
}

/** The fields in which the predecessor's peers differ from ours, whatever the node and the router. */
function styleOf({ spec }: BGPPeer, { found, usual }: PeerFacts): Record<string, unknown> {
  const ofRouter = found.find((one) => sameRouter(one, spec))
  const style = ofRouter ?? found[0]
  if (!style) return usual
  const { holdTime, keepaliveTime, peerPort, ebgpMultiHop } = style.spec
  return withoutEmpty({ holdTime, keepaliveTime, peerPort, ebgpMultiHop })
}

/** The number of a router in peer names: from the names of found peers, else from the node's annotations. */
function indexOf({ spec }: BGPPeer, place: string, { found, nodes }: PeerFacts): number {
  const [first] = found.filter((one) => sameRouter(one, spec)).flatMap(({ name }) => /-(\d+)$/.exec(name)?.[1] ?? [])
  if (first !== undefined) return Number(first)
  const router = addressText(spec.peerAddress)
  const node = nodes.find((one) => one.metadata.name === place || hostnameOf(one) === place)
  const annotations = Object.entries(node?.metadata.annotations ?? {})
  const annotated = annotations.find(
    ([name, value]) => /bgp-peers-\d+-peer-ip$/.test(name) && addressText(value) === router,
  )
  return Number(/bgp-peers-(\d+)-/.exec(annotated?.[0] ?? '')?.[1] ?? 0)
}

function freeName(place: string, index: number, taken: ReadonlySet<string>): string {
  for (let n = index; ; n += 1) if (!taken.has(`${place}-${n}`)) return `${place}-${n}`
}

function sameRouter({ spec }: FoundPeer, { peerAddress }: Spec): boolean {
  const router = addressText(peerAddress)
  return router !== undefined && addressText(String(spec['peerAddress'])) === router
}

function addressText(address: string | undefined): string | undefined {
  return parseAddress(address ?? '')?.text
}

/** The selector of a region, with any further conditions of the predecessor's setting. */
function regionSelector(region: string, { found }: PeerFacts): LabelSelector {
  const selectors = found.flatMap(({ spec }) => (spec as Spec).nodeSelectors ?? [])
  const like = selectors.find(({ matchLabels = {} }) => regionLabel in matchLabels)
  return { ...like, matchLabels: { ...like?.matchLabels, [regionLabel]: region } }
}

/** The stored selectors if they are equivalent, because any change would interrupt the session. */
function withCounts(
  there: readonly LabelSelector[],
  own: readonly LabelSelector[],
  counting: readonly LabelSelector[],
): LabelSelector[] {
  const wanted = [...own, ...counting]
  const texts = new Set(there.map((one) => JSON.stringify(sorted(one))))
  const isSame = there.length === wanted.length && wanted.every((one) => texts.has(JSON.stringify(sorted(one))))
  return isSame ? [...there] : wanted
}

function sorted({ matchLabels = {}, ...more }: LabelSelector): object {
  return {
    matchLabels: Object.entries(matchLabels)
      .map((entry) => entry.join('='))
      .toSorted(compareTexts),
    ...more,
  }
}

function ownSelectors({ nodeSelectors = [] }: Spec): LabelSelector[] {
  return nodeSelectors.filter((one) => !isCounting(one))
}

/**
 * Predecessors do not use a Secret: a reference would stay beside their password, and MetalLB refuses both together.
 */
function plainPassword(spec: Spec, password: string | undefined): { password?: string; passwordSecret?: null } {
  if (!spec.passwordSecret?.name) return spec.password ? { password: spec.password } : {}
  return { ...(password !== undefined && { password }), passwordSecret: null }
}

function hostnameOf({ metadata }: Node): string {
  return metadata.labels?.[hostnameLabel] ?? metadata.name
}

function withoutEmpty<T extends object>(fields: T): T {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(there) as T
}
