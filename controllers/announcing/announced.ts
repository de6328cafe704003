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
import { statusAddresses } from '../../ledger/record/shown.ts'
import { isAnnounceable } from '../../ledger/want/own-address-rules.ts'
import { isSecondWanted } from '../../ledger/want/second-want.ts'
import { type Want, isWanted } from '../../ledger/want/want.ts'
import type { Dependencies } from '../dependencies.ts'

/** A Service, its want, and the record of its address; a second address also has the record of the first. */
export type ServiceState = {
  service: Service
  wanted: Want
  record: ElasticIP | undefined
  first?: ElasticIP | undefined
}

/**
 * The address under which the network should know a Service. A Service that is being deleted has none. Neither has one
 * whose address the ledger does not hold for it: an address that is being released may belong to another user tomorrow.
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

/** The second address of a Service, which no field of its spec shows: it is there as soon as it is bound. */
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

/** Every address to announce, once, with the Services that show it. */
export function announcedAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, (state) => announcedAddress(state) ?? [])
}

/**
 * Every address that a Service shows before it has a record, or before that has found it. A predecessor may announce it:
 * that is neither ours to withdraw nor to announce, until the ledger has looked whose the address is.
 */
export function undecidedAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, ({ service, wanted, record }) => {
    const isDecided = (record && !mayFindShown(record)) || wanted.kind === 'own' || wanted.kind === 'nothing'
    const isForbidden = wanted.kind === 'wrong' && wanted.forbiddenAddress !== undefined
    return isDecided || isForbidden || service.metadata.deletionTimestamp ? [] : statusAddresses(service)
  })
}

/** Every address that a Service shows that is not deleted: while load balancing is off none is withdrawn. */
export function livingAddresses(states: Iterable<ServiceState>): Announced[] {
  return grouped(states, ({ service }) => (service.metadata.deletionTimestamp ? [] : statusAddresses(service)))
}

/**
 * Every address of ours that a Service still shows, and that is being withdrawn or no longer its own. If a Service's
 * deletion waits for us, it is every address: an own one has no record.
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

/** Every Service whose status another program wrote: it shows what we neither announce nor withdraw. */
export function foreignStatuses(states: Iterable<ServiceState>): NonNullable<Announcements['foreign']> {
  return [...states].flatMap((state) => {
    const { service, record } = state
    const isShown = ingressOf(service).length > 0
    if (!isShown || record || isGoing(service) || announcedAddress(state) !== undefined) return []
    return [{ service: keyOf(service), loadBalancerClass: service.spec.loadBalancerClass }]
  })
}

/** The facts of a Service that decide what announcing software does with it. */
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

/** Whether a Service says an address anywhere: no other can have it announced. Cheap, because it runs for all Services. */
export function mentionsAddress({ metadata, spec }: Service, address: string): boolean {
  const said = [spec.loadBalancerIP ?? '', ...Object.values(metadata.annotations ?? {})]
  // An IPv6 address has many texts.
  const texts = address.includes(':') ? said.map((text) => canonicalIpAddress(text) ?? text) : said
  return texts.includes(canonicalIpAddress(address) ?? address)
}

/**
 * Every Service, or every selected one, with what it wants and the record of its address, as our caches show them. A
 * Service with two addresses comes once for each.
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
