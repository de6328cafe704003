import type { Announced, Announcements, ServiceFacts } from '../../announcers/announcer.ts'
import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import {
  type ElasticIP,
  heldAddress,
  isSecond,
  phaseOf,
  recordName,
  secondKeys,
} from '../../ledger/record/elastic-ip.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { mayFindShown } from '../../ledger/record/records.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import { isAnnounceable } from '../../ledger/want/own-address-rules.ts'
import { isSecondWanted, isWanted } from '../../ledger/want/wanted.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { Dependencies } from '../dependencies.ts'

/** A Service, its want, and the record of its address; a second address also has the record of the first. */
export type ServiceState = {
  service: Service
  wanted: Want
  record: ElasticIP | undefined
  first?: ElasticIP | undefined
}

/**
 * The address under which the network should know a Service. A Service under deletion has none. Nor has a Service whose
 * address the ledger does not hold for it: a released address may belong to another customer tomorrow.
 */
export function announcedAddress({ service, wanted, record, first }: ServiceState): string | undefined {
  if (service.metadata.deletionTimestamp) return undefined
  if (record && isSecond(record)) return secondAddress({ service, wanted, record, first })
  switch (wanted.kind) {
    case 'own':
      return isAnnounceable(service, wanted) ? wanted.address : undefined
    case 'foreign':
      return record && isWanted(record, wanted) ? heldIfShown(record, service) : undefined
    // A Service that we no longer manage keeps its address.
    case 'ignored':
    case 'reserve':
    case 'named':
    case 'wrong':
      return record && heldIfShown(record, service)
    case 'nothing':
    case 'managed':
      return undefined
  }
}

/** The second address of a Service. No field of its spec shows it, so it counts once it is bound. */
function secondAddress({ service, wanted, record, first }: ServiceState & { record: ElasticIP }): string | undefined {
  const isBound = phaseOf(record) === 'Bound' && record.spec.claimRef?.uid === service.metadata.uid
  const mayHaveTwo = ['ignored', 'reserve', 'wrong', 'own'].includes(wanted.kind)
  const isItsOwn = mayHaveTwo && isSecondWanted(record, { service, wanted, first })
  return isBound && isItsOwn ? heldAddress(record) : undefined
}

function heldIfShown(record: ElasticIP, { spec }: Service): string | undefined {
  const held = heldAddress(record)
  return held === spec.loadBalancerIP ? held : undefined
}

/** Every address to announce, without duplicates, with the Services that show it. */
export function announcedAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, (state) => announcedAddress(state) ?? [])
}

/**
 * Every address that a Service shows before its record exists, or has found the address. A predecessor may announce it.
 * We neither withdraw nor announce it until the ledger has decided whose it is.
 */
export function undecidedAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, ({ service, wanted, record }) => {
    const isDecided = (record && !mayFindShown(record)) || wanted.kind === 'own' || wanted.kind === 'nothing'
    const isForbidden = wanted.kind === 'wrong' && wanted.forbiddenAddress !== undefined
    return isDecided || isForbidden || service.metadata.deletionTimestamp ? [] : statusAddresses(service)
  })
}

/**
 * Every address that a Service shows, unless the Service is being deleted. While load balancing is off, none of them is
 * withdrawn.
 */
export function livingAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, ({ service }) => (service.metadata.deletionTimestamp ? [] : statusAddresses(service)))
}

/**
 * Every address of ours that a Service still shows although it is being withdrawn or no longer its own. If a Service's
 * deletion waits for us, every address counts, because a user-chosen address has no record.
 */
export function leavingAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, (state) => {
    if (announcedAddress(state) !== undefined) return []
    const held = canonicalIpAddress(state.record?.status?.address ?? '')
    return statusAddresses(state.service).filter((shown) => isGoing(state.service) || shown === held)
  })
}

function isGoing({ metadata: { finalizers = [], deletionTimestamp } }: Service): boolean {
  return deletionTimestamp !== undefined && finalizers.includes(serviceFinalizer)
}

/** Every address that a Service shows in its status. */
export function visibleAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, ({ service }) => statusAddresses(service))
}

/** Every Service with a status that another program wrote: we neither announce nor withdraw its addresses. */
export function foreignStatuses(states: Iterable<ServiceState>): NonNullable<Announcements['foreign']> {
  return [...states].flatMap((state) => {
    const { service, record } = state
    const isShown = ingressOf(service).length > 0
    if (!isShown || record || isGoing(service) || announcedAddress(state) !== undefined) return []
    return [{ service: keyOf(service), loadBalancerClass: service.spec.loadBalancerClass }]
  })
}

/** The facts about a Service that decide how announcing software treats it. */
export function factsOf(service: Service | undefined): ServiceFacts | undefined {
  if (!service) return undefined
  const { metadata, spec } = service
  return {
    ...(spec.loadBalancerClass !== undefined && { loadBalancerClass: spec.loadBalancerClass }),
    ...(metadata.labels && { labels: metadata.labels }),
    ...(metadata.annotations && { annotations: metadata.annotations }),
  }
}

function grouped(states: Iterable<ServiceState>, addressesOf: (state: ServiceState) => string | string[]): Announced[] {
  const services = new Map<string, Set<string>>()
  for (const state of states) {
    for (const address of [addressesOf(state)].flat()) {
      const known = services.get(address) ?? new Set()
      services.set(address, known.add(keyOf(state.service)))
    }
  }
  return [...services].map(([address, keys]) => ({ address, services: [...keys] }))
}

/**
 * Whether a Service names an address anywhere: other Services cannot have it announced. Cheap, because it runs for all
 * Services.
 */
export function mentionsAddress({ metadata, spec }: Service, address: string): boolean {
  const said = [spec.loadBalancerIP ?? '', ...Object.values(metadata.annotations ?? {})]
  // An IPv6 address can be written in many ways.
  const texts = address.includes(':') ? said.map((text) => canonicalIpAddress(text) ?? text) : said
  return texts.includes(canonicalIpAddress(address) ?? address)
}

/**
 * All Services, or the selected ones, with their wants and records as our caches show them. A Service with two
 * addresses appears once for each.
 */
export function serviceStates(
  { caches, want }: Pick<Dependencies, 'caches' | 'want'>,
  isSelected: (service: Service) => boolean = () => true,
): ServiceState[] {
  return caches.services
    .list()
    .filter(isSelected)
    .flatMap((service) => {
      const key = keyOf(service)
      const seconds = secondKeys(key).flatMap((second) => caches.records.get(recordName(second)) ?? [])
      const wanted = want(service)
      const first = caches.records.get(recordName(key))
      return [{ service, wanted, record: first }, ...seconds.map((record) => ({ service, wanted, record, first }))]
    })
}
