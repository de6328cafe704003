import { type Key, type Service, keyOf, splitKey, ingressOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { hasClass } from '../../settings/service-policy.ts'
import { type ElasticIP, phaseOf } from './elastic-ip.ts'
import { addressAnnotation } from './names.ts'

/*
 * The rule that keeps an address in use. Before a reservation is deleted, and before an available address gets a new
 * holder, a live look must find nobody who shows or holds it. Records can be wrong: people edit them, remove them by
 * force and restore them from backups. The network follows what Services show.
 */

/** All who could use an address. */
export type PossibleUsers = {
  services: readonly Service[]
  records: readonly ElasticIP[]
  /** Every annotation by which a Service can request an address from announcing software, ours or not. */
  requestAnnotations: readonly string[]
  /** The classes of Services that we serve. */
  classes: readonly string[]
}

/** Reads who could use an address now, past every cache. Callers at the same time share a read that began after they asked. */
export type ReadPossibleUsers = (signal: AbortSignal) => Promise<PossibleUsers>

export type UsedAddress = { address?: string | undefined; reservationID?: string | undefined }

/** Who may use the address: those for whom, or instead of whom, the caller acts. */
export type Exempt = {
  service?: Key | undefined
  /** Names of records. */
  records: readonly string[]
  /** The caller releases what the ledger gave the Service. */
  isRelease?: boolean
}

export type AddressUser = {
  kind: 'Service' | 'ElasticIP'
  key: Key
  how: string
  record?: ElasticIP
  service?: Service
}

/** An address is not released, or gets no new holder, because somebody shows or holds it. */
export class AddressInUse extends Error {
  override readonly name = 'AddressInUse'
  readonly users: readonly AddressUser[]

  constructor(used: UsedAddress, users: readonly AddressUser[]) {
    super(inUseText(used, users))
    this.users = users
  }
}

/** Where a Service shows or requests an address. */
export type ShownAddress = { address: string; where: string }

/**
 * The addresses that a Service shows, in canonical text.
 *
 * | the Service                                        | shows an address in                                     |
 * | -------------------------------------------------- | ------------------------------------------------------- |
 * | any                                                | `status.loadBalancer`: the network may know it          |
 * | a LoadBalancer of any class that is not being      | `spec.loadBalancerIP`, our annotation, every annotation |
 * | deleted                                            | that requests an address                                |
 */
export function shownAddresses(service: Service, requestAnnotations: readonly string[]): ShownAddress[] {
  const { metadata, spec } = service
  const inStatus = ingressOf(service).map(({ ip }) => [ip, 'status.loadBalancer'] as const)
  const isRequest = spec.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined
  const annotations = isRequest ? [addressAnnotation, ...requestAnnotations] : []
  const requested = annotations.flatMap((name) =>
    (metadata.annotations?.[name] ?? '').split(',').map((value) => [value.trim(), `annotation ${name}`] as const),
  )
  const inSpec = isRequest ? [[spec.loadBalancerIP, 'spec.loadBalancerIP'] as const] : []
  return [...inStatus, ...inSpec, ...requested].flatMap(([text, where]) => {
    const address = text ? canonicalIpAddress(text) : undefined
    return address === undefined ? [] : [{ address, where }]
  })
}

/**
 * The addresses that a Service certainly uses, whatever its namespace. The network may know those in its status, which
 * tenants do not write. The one of our annotation we wrote ourselves. On a Service of a class that we do not serve nobody
 * checks that.
 */
export function usesOf(service: Service, classes: readonly string[]): ShownAddress[] {
  return shownAddresses(service, []).filter((shown) => isCertain(service, shown, classes))
}

function isCertain(service: Service, { address, where }: ShownAddress, classes: readonly string[]): boolean {
  if (where === 'status.loadBalancer') return true
  const ours = canonicalIpAddress(service.metadata.annotations?.[addressAnnotation] ?? '')
  return hasClass(service, classes) && ours === address
}

/** Everybody who shows or holds an address or its reservation, besides those who may. Pure. */
export function findUsers(used: UsedAddress, all: PossibleUsers, exempt: Exempt): AddressUser[] {
  const address = used.address === undefined ? undefined : canonicalIpAddress(used.address)
  const services = all.services.flatMap((service): AddressUser[] => {
    const key = keyOf(service)
    // One place is enough: a status that we wrote does not make an own address in the spec ours.
    const shown = shownAddresses(service, all.requestAnnotations)
      .filter((one) => one.address === address)
      .find((one) => !isServed(service, one, exempt) && countsAsUse(service, one, { ...exempt, classes: all.classes }))
    return shown ? [{ kind: 'Service', key, how: `shows it in ${shown.where}`, service }] : []
  })
  const records = all.records
    .filter(({ metadata }) => !exempt.records.includes(metadata.name))
    .filter((record) => isHolder(record, { ...used, address }))
    .map((record): AddressUser => ({ kind: 'ElasticIP', key: record.metadata.name, how: 'holds it', record }))
  return [...services, ...records]
}

/**
 * Whether the caller acts for a Service. A release does so only as far as we wrote the address: a user may have written it
 * into a new Service of that name.
 */
function isServed(service: Service, shown: ShownAddress, exempt: Exempt): boolean {
  if (keyOf(service) !== exempt.service) return false
  const ours = canonicalIpAddress(service.metadata.annotations?.[addressAnnotation] ?? '')
  const isOwn = shown.where === 'spec.loadBalancerIP' && ours !== shown.address
  return !exempt.isRelease || !isOwn
}

/**
 * Whether what a Service shows counts. A tenant can request every address there is, for a Service of any class. So a
 * mere request counts only in the namespace for which the caller acts. The webhook and the controllers refuse it
 * elsewhere.
 */
function countsAsUse(
  service: Service,
  shown: ShownAddress,
  { classes, service: exempt }: Exempt & Pick<PossibleUsers, 'classes'>,
): boolean {
  if (isCertain(service, shown, classes)) return true
  return exempt !== undefined && service.metadata.namespace === splitKey(exempt).namespace
}

function isHolder(record: ElasticIP, { address, reservationID }: UsedAddress): boolean {
  const { status = {} } = record
  if (phaseOf(record) === 'Releasing') return false
  const isSameReservation = reservationID !== undefined && status.reservationID === reservationID
  return isSameReservation || (address !== undefined && canonicalIpAddress(status.address ?? '') === address)
}

/** How many users a message names. */
const maxNamed = 5

function inUseText({ address, reservationID }: UsedAddress, users: readonly AddressUser[]): string {
  const named = users.slice(0, maxNamed).map(({ kind, key, how }) => `${kind} ${key} ${how}`)
  const rest = users.length > named.length ? ` and ${users.length - named.length} more` : ''
  const what = address === undefined ? `reservation ${reservationID}` : `address ${address}`
  return (
    `${what} is in use and stays reserved for now: ${named.join(', ')}${rest}. ` +
    'Delete what uses it, or give that another address; we look again'
  )
}
