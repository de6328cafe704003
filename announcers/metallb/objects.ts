import type {
  Announcements,
  ObjectConfiguration,
  WantedObject,
  ObjectSessions,
  Subject,
  Problem,
} from '../announcer.ts'
import { secrets } from '../../kube/resource.ts'
import { type IpFamily, isInRanges } from '../../lib/ip-address.ts'
import { nameOf, parseAddress } from '../shared/address.ts'
import { lacksSessions } from '../shared/sessions.ts'
import { lacks, omitTakenNames } from '../shared/own-objects.ts'
import { type Marks, type ExistingObjects, isOurs, labelsOf } from './ownership.ts'
import { peersOf } from './peers.ts'
import type { PeerMode } from '../setting.ts'
import {
  metallbAddresses,
  poolsOf,
  refusedChoices,
  silencedServices,
  undecidedPools,
  type WantedPool,
} from './pools.ts'
import {
  bgpAdvertisements,
  bgpPeers,
  configurationStates,
  ipAddressPools,
  isPeer,
  isPool,
  isState,
  type BGPAdvertisement,
  isAdvertisement,
  type BGPPeer,
  type ConfigurationState,
} from './resources.ts'
import { compareTexts, distinctProblems } from '../shared/order.ts'
import { isForPool, hasOtherAttributes } from './foreign-advertisements.ts'
import { hostnamesOf } from './adopt-peers.ts'
import type { KubeObject } from '../../kube/objects.ts'

export type ObjectOptions = Marks & { peerMode: PeerMode }

/** Configures MetalLB from 0.13.2 on by its custom resources. */
export function metallbObjects(options: ObjectOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.namespace,
    kinds: [
      { resource: secrets, only: options.passwordSecret },
      { resource: bgpAdvertisements },
      { resource: ipAddressPools, isPruned: true },
      { resource: bgpPeers },
    ],
    from: 'MetalLB 0.13.2 or later',
    isOurs: (object) => isOurs(options, object),
    objects(state, existing) {
      const { ours = [], foreign = [] } = Object.groupBy(existing, (one) => (isOurs(options, one) ? 'ours' : 'foreign'))
      return configure(options, state, { ours, foreign })
    },
    sessionsOf: (object) => (isPeer(object) ? sessionsOfPeer(object) : undefined),
    excludes: options.peerMode === 'frr' ? excludesWithFrr : excludes,
    reports: [configurationStates],
    reportedProblems,
    announcing: ipAddressPools,
    nameFor(text) {
      const address = parseAddress(text)
      return address && nameOf(address)
    },
    hasAddress(object, text) {
      const address = parseAddress(text)
      return (
        address !== undefined && isOurs(options, object) && isPool(object) && isInRanges(address, object.spec.addresses)
      )
    },
  }
}

function configure(
  options: ObjectOptions,
  state: Announcements,
  existing: ExistingObjects,
): ReturnType<ObjectConfiguration['objects']> {
  // An advertised IPv6 pool makes MetalLB without FRR refuse its whole configuration. Only peer mode `frr` shows that
  // MetalLB uses FRR.
  const families: IpFamily[] = options.peerMode === 'frr' ? ['ipv4', 'ipv6'] : ['ipv4']
  const { shown, problems } = metallbAddresses(state.addresses, families)
  const peers = peersOf(state.nodes, { ...options, families }, existing)
  const allPeers = [...peers.wanted.map(({ object }) => object), ...existing.foreign.filter(isPeer)]
  const names = options.peerMode === 'none' ? undefined : allPeers.map(({ metadata }) => metadata.name)
  const pools = poolsOf({ ...state, shown }, options, { ...existing, peers: names })
  const kept = undecidedPools(state.undecided ?? [], pools.wanted, existing)
  if (shown.length + kept.length === 0) return { wanted: [], problems }
  const all = [...pools.wanted, ...kept]
  const advertisement = advertisementFor(all, options, existing)
  const toWrite: WantedObject[] = all.map(({ object, subjects }) => ({ object, subjects }))
  const wanted = [...peers.secret, ...advertisement, ...toWrite, ...peers.wanted]
  const advertisements = [...advertisement.map(({ object }) => object), ...existing.foreign].filter(isAdvertisement)
  const silenced = silencedServices(all, advertisements, state.facts)
  const refused = refusedChoices(pools.wanted, state)
  const found = [...problems, ...pools.problems, ...peers.problems, ...silenced, ...refused]
  const possible = omitTakenNames(wanted, existing.foreign, found)
  const lacksPools = shown.length > 0 && !possible.wanted.some(({ object }) => isPool(object))
  // With peer mode `none`, people write the peers.
  const lacksPeers = options.peerMode !== 'none' && lacksSessions(state.nodes, possible.wanted, bgpPeers.kind)
  const lacksAdvertisement = lacks(bgpAdvertisements.kind, { wanted, possible: possible.wanted })
  return { ...possible, isHeld: lacksPools || lacksPeers || lacksAdvertisement }
}

/**
 * The advertisement of our pools, unless a foreign one takes its place. A foreign advertisement with our label replaces
 * ours for the pools that it selects. MetalLB would also refuse ours beside one with another local preference or AS
 * path.
 *
 * It names its pools, as a predecessor's does. A label selector would miss pools that we have not labelled yet. A
 * predecessor that returns deletes an advertisement that names none of its pools.
 */
function advertisementFor(
  pools: readonly WantedPool[],
  marks: Marks,
  { ours, foreign }: ExistingObjects,
): WantedObject[] {
  const { name, value } = marks.label
  const missing = pools.filter(({ facts }) => {
    const own = foreign.filter(isAdvertisement).filter((one) => isForPool(one, facts))
    return !own.some((one) => one.metadata.labels?.[name] === value || hasOtherAttributes(one, facts))
  })
  if (missing.length === 0) return []
  const known = ours.find(isAdvertisement)?.spec
  const object: BGPAdvertisement = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'BGPAdvertisement',
    metadata: { name: marks.advertisement, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: {
      ipAddressPools: poolNames(
        missing.map(({ facts }) => facts.name),
        known?.ipAddressPools ?? [],
        foreign.filter(isPool).map(({ metadata }) => metadata.name),
      ),
      // An omitted field would keep its value, so an empty list replaces it.
      ...(known?.ipAddressPoolSelectors?.length ? { ipAddressPoolSelectors: [] } : {}),
    },
  }
  return [{ object, subjects: missing.flatMap(({ subjects }) => subjects) }]
}

/** The names in their current order, then new ones. A foreign pool that a person added stays announced. */
function poolNames(wanted: readonly string[], known: readonly string[], foreign: readonly string[]): string[] {
  const possible = new Set([...wanted, ...foreign])
  const kept = new Set(known.filter((name) => possible.has(name)))
  return [...kept, ...wanted.filter((name) => !kept.has(name)).toSorted(compareTexts)]
}

/** The sessions of a peer, for comparison with other peers in the same network. */
function sessionsOfPeer({ metadata, spec }: BGPPeer): ObjectSessions {
  const address = spec.peerAddress ?? ''
  // A router in a VRF is a different router, even with the same address.
  const router = `${parseAddress(address)?.text ?? (address || metadata.name)}${spec.vrf ? ` in ${spec.vrf}` : ''}`
  return { nodes: hostnamesOf(spec), router, localAsn: spec.myASN }
}

/** Routers accept one session from each node, even if MetalLB accepts two. */
export function excludes(one: ObjectSessions, other: ObjectSessions): boolean {
  return one.router === other.router && hasCommonNode(one, other)
}

/** FRR acts as one router, with one AS number and one session to each other router. */
export function excludesWithFrr(one: ObjectSessions, other: ObjectSessions): boolean {
  return one.router === other.router || one.localAsn !== other.localAsn
}

function hasCommonNode({ nodes: ones }: ObjectSessions, { nodes: others }: ObjectSessions): boolean {
  return ones === undefined || others === undefined || ones.some((node) => others.includes(node))
}

/** The problems that MetalLB reports about its configuration. */
export function reportedProblems(reports: readonly KubeObject[], state: Announcements): Problem[] {
  const subjects = namedSubjects(state)
  return distinctProblems(reports.filter(isState).flatMap((report) => stateProblems(report, subjects)))
}

/** A Service or node, and the words with which a MetalLB message may name it. */
type NamedSubject = { subject: Subject; words: string[] }

function namedSubjects({ addresses, nodes }: Announcements): NamedSubject[] {
  const ofServices = addresses.flatMap(({ address, services }) =>
    services.map((service) => ({ subject: { service }, words: [address, service, service.replace('/', '.')] })),
  )
  const ofNodes = nodes.map(({ node, hostname, peers }) => {
    const ofPeers = peers.flatMap(({ peerAddress, localAsn }) => {
      const router = parseAddress(peerAddress)
      return router ? [router.text, `${node}.${nameOf(router)}`, `as${localAsn}.${nameOf(router)}`] : []
    })
    return { subject: { node }, words: [node, hostname, ...ofPeers] }
  })
  return [...ofServices, ...ofNodes]
}

function stateProblems({ metadata, status }: ConfigurationState, known: readonly NamedSubject[]): Problem[] {
  if (status?.result !== 'Invalid') return []
  const failed = (status.conditions ?? []).filter((condition) => condition.status === 'False')
  const text = status.errorSummary || failed.map(({ message }) => message).join('; ')
  const named = known.filter(({ words }) => words.some((word) => hasWord(text, word)))
  const node = metadata.labels?.['metallb.io/node-name']
  // While MetalLB refuses its configuration it announces nothing new, so every Service is affected.
  const affected = named.length > 0 || node ? named : known.filter(({ subject }) => 'service' in subject)
  const subjects = affected.length === 0 && node ? [{ node }] : affected.map(({ subject }) => subject)
  return subjects.map((subject) => ({
    subject,
    message: `MetalLB (${metadata.name}) refuses its configuration: ${text}`,
    ...(unspecific.test(text) && { mayPass: true as const }),
  }))
}

/**
 * The message, without a cause, of a speaker or controller that retries on its own. It also appears briefly while
 * MetalLB applies a changed pool, address or peer.
 */
const unspecific = /^(configuration error: )?general handler sync state error$/

/** Whether a text contains a word as a whole. */
function hasWord(text: string, word: string): boolean {
  return word !== '' && new RegExp(`(?<![\\w.-])${RegExp.escape(word)}(?![\\w-]|\\.\\w)`).test(text)
}
