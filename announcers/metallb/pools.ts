import type { Announced, Announcements, Problem, WantedObject } from '../announcer.ts'
import { type KubeObject, splitKey } from '../../kube/objects.ts'
import { type IpAddress, type IpFamily, isInRanges } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import { type ShownAddress, announceableAddresses, parseAddress, prefixOf, servicesOf } from '../shared/address.ts'
import { compareTexts, distinct } from '../shared/order.ts'
import { metallbPoolAnnotations } from './names.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import { type BGPAdvertisement, type IPAddressPool, isAdvertisement, isPool } from './resources.ts'
import { type PoolName, poolNaming } from './pool-names.ts'
import {
  type PoolFacts,
  conflictingAdvertisements,
  isForPool,
  narrowAdvertisements,
  selectsServices,
  silencingAdvertisements,
} from './foreign-advertisements.ts'

/** Existing objects, and the names of all peers that exist or that we write; undefined where only people write peers. */
type Existing = ExistingObjects & { peers: readonly string[] | undefined }

/** Every address of a state that MetalLB can announce, and why it cannot announce the others. */
export function metallbAddresses(announced: readonly Announced[], families: readonly IpFamily[]) {
  const refusal = (text: string, address: IpAddress | undefined) =>
    address
      ? `address ${address.text} is IPv6, which MetalLB announces over BGP only in FRR mode; set bgp-peer-mode=frr in the load balancer setting`
      : `${quote(text)} is not an IP address that MetalLB can announce`
  return announceableAddresses(announced, { families, refusal })
}

export type WantedPool = WantedObject & { object: IPAddressPool; facts: PoolFacts }

/**
 * A pool for each address. MetalLB refuses two pools that overlap, so our existing pool of an address stays, with its
 * name. It stays whatever foreign objects exist, because its address may be announced already. A Service that shows an
 * address keeps it.
 */
export function poolsOf(
  { shown, visible = [], undecided = [] }: Pick<Announcements, 'visible' | 'undecided'> & { shown: ShownAddress[] },
  marks: Marks,
  existing: Existing,
): { wanted: WantedPool[]; problems: Problem[] } {
  const problems: Problem[] = []
  const holderOf = poolHolders(existing.ours.filter(isPool))
  const newName = poolNaming(existing)
  const others = new Map(visible.map(({ address, services }) => [address, services]))
  const placed = shown.map((one) => {
    const known = holderOf(one.address)
    return { ...one, place: known ? { name: known.metadata.name, labels: {} } : newName(one) }
  })
  const beside = undecidedBeside(placed, parsed(undecided), holderOf)
  const places = Map.groupBy([...placed, ...beside], ({ place }) => place.name)
  const wanted = [...places].flatMap(([name, group]) => {
    const held = group.map(({ address }) => address)
    const [first] = held
    const [labels = {}] = group.map(({ place }) => place.labels)
    if (!first) return []
    const known = held.map(holderOf).find((pool) => pool !== undefined)
    const facts = { name, family: first.family, labels: { ...known?.metadata.labels, ...labels, ...labelsOf(marks) } }
    const subjects = servicesOf(group)
    const message = known ? undefined : unavailableReason(first, facts, { marks, existing })
    if (message === undefined) {
      const users = group.flatMap(({ address, services }) => [...services, ...(others.get(address.text) ?? [])])
      const spec = { addresses: prefixesOf(held, known), autoAssign: false, ...reservedFor(users, known) }
      return [{ object: makePool({ name, labels }, spec, marks), facts, subjects }]
    }
    problems.push(...subjects.map((subject) => ({ subject, message })))
    return []
  })
  return { wanted, problems }
}

type Placed = ShownAddress & { place: PoolName }

/** The undecided addresses in the pools of decided ones: a pool without them would withdraw them. */
function undecidedBeside(
  placed: readonly Placed[],
  undecided: readonly ShownAddress[],
  holderOf: ReturnType<typeof poolHolders>,
): Placed[] {
  const names = new Set(placed.map(({ place }) => place.name))
  const decided = new Set(placed.map(({ address }) => address.text))
  return undecided.flatMap((one) => {
    const name = holderOf(one.address)?.metadata.name ?? ''
    return names.has(name) && !decided.has(one.address.text) ? [{ ...one, place: { name, labels: {} } }] : []
  })
}

/**
 * The other pools that hold addresses which the ledger has not decided yet. They stay as they are, because we or a
 * predecessor may announce the addresses already.
 */
export function undecidedPools(
  undecided: readonly Announced[],
  taken: readonly WantedPool[],
  { ours }: ExistingObjects,
): WantedPool[] {
  const names = new Set(taken.map(({ facts }) => facts.name))
  const shown = parsed(undecided)
  const byPrefix = Map.groupBy(shown, ({ address }) => prefixOf(address))
  const left = ours.filter(isPool).filter((pool) => !names.has(pool.metadata.name))
  return left.flatMap((pool) => {
    const { name, labels = {} } = pool.metadata
    const { addresses } = pool.spec
    const held = isWide(pool)
      ? shown.filter(({ address }) => isInRanges(address, addresses))
      : (byPrefix.get(addresses.join()) ?? [])
    const [first] = held
    if (!first) return []
    return [{ object: pool, facts: { name, family: first.address.family, labels }, subjects: servicesOf(held) }]
  })
}

function parsed(announced: readonly Announced[]): ShownAddress[] {
  return announced.flatMap(({ address: text, services }) => {
    const address = parseAddress(text)
    return address ? [{ address, services }] : []
  })
}

/** The pool that holds an address, and whether an advertisement selects it; undefined if none holds it. */
export function announcingPool(
  objects: readonly KubeObject[],
  address: IpAddress,
): { name: string; isAdvertised: boolean } | undefined {
  const pool = objects.filter(isPool).find(({ spec }) => isInRanges(address, spec.addresses))
  if (!pool) return undefined
  const { name, labels = {} } = pool.metadata
  const facts = { name, labels, family: address.family }
  return { name, isAdvertised: objects.filter(isAdvertisement).some((one) => isForPool(one, facts)) }
}

/**
 * The annotation by which a Service chooses another pool than the address's, so that MetalLB refuses the address;
 * undefined if there is none. The newer name wins.
 */
export function otherPoolChoice(annotations: Readonly<Record<string, string>>, pool: string): string | undefined {
  const name = metallbPoolAnnotations.findLast((one) => annotations[one])
  return name === undefined || annotations[name] === pool ? undefined : name
}

/**
 * The Services that get no address from MetalLB, because they choose another pool. A Service that already shows its
 * address is fine: a MetalLB that does not know the annotation ignores it.
 */
export function refusedChoices(pools: readonly WantedPool[], { facts, visible = [] }: Announcements): Problem[] {
  const showing = new Set(visible.flatMap(({ services }) => services))
  return pools.flatMap(({ object, facts: { name: pool }, subjects }) =>
    subjects.flatMap((subject) => {
      if (!('service' in subject) || showing.has(subject.service)) return []
      const { annotations = {} } = facts?.get(subject.service) ?? {}
      const choice = otherPoolChoice(annotations, pool)
      if (choice === undefined) return []
      const address = object.spec.addresses.join().replaceAll(/\/\d+/g, '')
      const message =
        `MetalLB refuses address ${address}: annotation ${choice}: ${quote(annotations[choice] ?? '')} chooses another ` +
        `pool, and the address is in IPAddressPool ${pool}; remove the annotation`
      return [{ subject, message }]
    }),
  )
}

/** Whether a pool holds anything but one address. */
function isWide({ spec: { addresses } }: IPAddressPool): boolean {
  return addresses.length !== 1 || !/^([\d.]+\/32|[\da-f:.]+:[\da-f:.]*\/128)$/i.test(addresses[0] ?? '')
}

/** Finds the pool that holds an address, preferably one that holds no other. */
function poolHolders(pools: readonly IPAddressPool[]): (address: IpAddress) => IPAddressPool | undefined {
  const ordered = pools.toSorted((one, other) => compareTexts(one.metadata.name, other.metadata.name))
  const single = new Map(ordered.toReversed().map((pool) => [pool.spec.addresses.join(), pool]))
  const wider = ordered.filter(isWide)
  return (address) => single.get(prefixOf(address)) ?? wider.find(({ spec }) => isInRanges(address, spec.addresses))
}

/** The prefixes of a pool, in their stored order if they are the same. */
function prefixesOf(addresses: readonly IpAddress[], known: IPAddressPool | undefined): string[] {
  const prefixes = addresses.map(prefixOf)
  const before = known?.spec.addresses ?? []
  const isSame = before.length === prefixes.length && before.every((one) => prefixes.includes(one))
  return isSame ? before : prefixes
}

/**
 * Reserves a pool for the namespaces of its Services: otherwise any Service that names the pool could get the address
 * first. A pool without this field stays so: its address is taken already, and its CRD may lack the field.
 */
function reservedFor(
  services: readonly string[],
  known: IPAddressPool | undefined,
): Pick<IPAddressPool['spec'], 'serviceAllocation'> {
  if (known && !known.spec.serviceAllocation?.namespaces) return {}
  const namespaces = distinct(services.map((key) => splitKey(key).namespace))
  return { serviceAllocation: { namespaces } }
}

/** Automatic assignment is off: otherwise MetalLB would give the address to any Service that waits for one. */
function makePool({ name, labels }: PoolName, spec: IPAddressPool['spec'], marks: Marks): IPAddressPool {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace: marks.namespace, labels: { ...labels, ...labelsOf(marks) } },
    spec,
  }
}

/** Why an address in a foreign pool gets none of our pools. */
export function poolConflict(address: string, pool: string): string {
  return `address ${address} is in ${pool}, which eip-admission does not manage, so eip-admission cannot give it its own pool; remove the address from that pool`
}

function unavailableReason(
  address: IpAddress,
  facts: PoolFacts,
  { marks: { label }, existing: { foreign, peers } }: { marks: Marks; existing: Existing },
): string | undefined {
  const holder = foreign.filter(isPool).find(({ spec }) => isInRanges(address, spec.addresses))
  if (holder) return poolConflict(address.text, `IPAddressPool ${holder.metadata.name}`)
  const advertisements = foreign.filter(isAdvertisement)
  const conflicting = namesOf(conflictingAdvertisements(advertisements, facts))
  if (conflicting !== '')
    return `address ${address.text} gets no pool: MetalLB would refuse the pool, because BGPAdvertisement ${conflicting} aggregates routes or sets a second localPref or asPathPrepend; make ${conflicting} select other pools`
  const narrow = peers ? namesOf(narrowAdvertisements(advertisements, facts, { label, peers })) : ''
  if (narrow !== '')
    return `address ${address.text} gets no pool: BGPAdvertisement ${narrow} announces it only to some peers or from some nodes, and MetalLB refuses a second advertisement with a different localPref or asPathPrepend; make ${narrow} select other pools, or, if you want this, give it the label ${label.name}=${label.value}`
  return undefined
}

/** The Services that speakers would announce to no peer, because of advertisements of people that MetalLB accepts. */
export function silencedServices(
  pools: readonly WantedPool[],
  advertisements: readonly BGPAdvertisement[],
  services: Announcements['facts'],
): Problem[] {
  // Usually no advertisement selects Services, of which there may be thousands.
  if (!advertisements.some(({ spec = {} }) => selectsServices(spec))) return []
  return pools.flatMap(({ object, facts, subjects }) =>
    subjects.flatMap((subject) => {
      if (!('service' in subject)) return []
      const silencing = silencingAdvertisements(advertisements, facts, services?.get(subject.service)?.labels)
      if (silencing.length === 0) return []
      const selecting = namesOf(silencing.filter(({ spec = {} }) => selectsServices(spec)))
      const message =
        `MetalLB announces ${object.spec.addresses.join().replaceAll(/\/\d+/g, '')} to no peer, because BGPAdvertisements ` +
        `${namesOf(silencing)} disagree about localPref or asPathPrepend; make ${selecting} name IPAddressPool ` +
        `${facts.name} in ipAddressPools, and nothing in serviceSelectors`
      return [{ subject, message }]
    }),
  )
}

function namesOf(objects: readonly KubeObject[]): string {
  return objects
    .map(({ metadata }) => metadata.name)
    .toSorted(compareTexts)
    .join(' and ')
}
