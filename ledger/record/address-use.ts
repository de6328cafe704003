import { type Condition, type Key, type Service, keyOf, splitKey, ingressOf } from '../../kube/objects.ts'
import { canonicalIpAddress, type IpFamily, parseIpAddress } from '../../lib/ip-address.ts'
import { type ElasticIP, claimKey, decidingRecords, heldAddress, phaseOf } from './elastic-ip.ts'
import { addressAnnotation, addressCondition } from './names.ts'
import type { Reservation } from '../../clouds/ports/cloud.ts'

/*
 * Who uses this address? A live look must find no user before a reservation is deleted or an available address gets a
 * new holder. Records can be wrong: people edit them, delete them by force and restore them from backups. The network
 * follows what Services show.
 *
 * | who says it                                    | where                                       | counts as a use         |
 * | ---------------------------------------------- | ------------------------------------------- | ----------------------- |
 * | a record that is not being released            | its address, or its reservation             | against everybody       |
 * | a Service of any type and class                | `status.loadBalancer`                       | against everybody       |
 * | a LoadBalancer of any class                    | `spec.loadBalancerIP`, our annotation, any  | in its namespace only,  |
 * |                                                | annotation that requests an address         | as a request            |
 * | a LoadBalancer that is being deleted           | the same                                    | never                   |
 *
 * A Node never counts. Tenants can write neither records nor a status. But they can write our annotation on a Service
 * that no webhook reviews, so the annotation proves nothing; the record of that Service does.
 */

/** Everything that could use an address. */
export type PossibleUsers = {
  services: readonly Service[]
  records: readonly ElasticIP[]
  /** Every annotation by which a Service can request an address from announcing software, configured or not. */
  requestAnnotations: readonly string[]
}

/**
 * Reads who could use an address now. Simultaneous callers share a read that began after all of them asked. A caller
 * that has just `written` a record gets the records as of that write or later: its cache may have them.
 */
export type ReadPossibleUsers = (signal: AbortSignal, written?: ElasticIP) => Promise<PossibleUsers>

export type UsedAddress = { address?: string | undefined; reservationID?: string | undefined }

/** The users that do not count: those for which, or instead of which, the caller acts. */
export type Exempt = {
  service?: Key | undefined
  /** Names of records. */
  records: readonly string[]
  /** Whether the caller releases what the ledger gave the Service. */
  isRelease?: boolean
}

export type AddressUser = {
  kind: 'Service' | 'ElasticIP'
  key: Key
  how: string
  record?: ElasticIP
  service?: Service
}

/** An address is not released, or gets no new holder, because something still shows or holds it. */
export class AddressInUse extends Error {
  override readonly name = 'AddressInUse'
  readonly users: readonly AddressUser[]

  constructor(used: UsedAddress, users: readonly AddressUser[]) {
    super(inUseText(used, users))
    this.users = users
  }
}

/** Our condition of a Service: whether it shows its address, and if not, why. */
export function addressConditionOf({ status }: Pick<Service, 'status'>): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === addressCondition)
}

/** The records whose Service exists but does not show its address, so that no node announces it. */
export function unannounced(records: readonly ElasticIP[], service: (key: string) => Shown | undefined): ElasticIP[] {
  return records.filter((record) => {
    const found = service(claimKey(record) ?? '')
    const isHeld = phaseOf(record) === 'Bound' && record.status?.address !== undefined
    return isHeld && found && !found.metadata?.deletionTimestamp && !showsAddress(found, record.status?.address)
  })
}

/**
 * The rightful record of an address that this one also has: its Service shows the address, and the Service of this one
 * does not. A person wrote the address into this one, or a backup restored it. Pure.
 */
export function rivalOf(
  record: ElasticIP,
  records: readonly ElasticIP[],
  service: (key: string) => Shown | undefined,
): ElasticIP | undefined {
  const address = heldAddress(record)
  const isShownBy = (one: ElasticIP) => showsAddress(service(claimKey(one) ?? ''), address)
  if (address === undefined || isShownBy(record)) return undefined
  return records.find((other) => {
    // Both may have the address of one reservation. Then the table of a release decides.
    const isOther = other.status?.reservationID !== record.status?.reservationID
    return isOther && heldAddress(other) === address && isShownBy(other)
  })
}

/**
 * The record that decides about an address: one whose Service shows it, else any live one, else one whose reservation
 * is being deleted. Pure.
 */
export function decidingRecord(
  address: string,
  records: readonly ElasticIP[],
  service: (key: string) => Shown | undefined,
): ElasticIP | undefined {
  const all = decidingRecords(records.filter(({ status }) => status?.address === address))
  return all.find((record) => showsAddress(service(claimKey(record) ?? ''), address)) ?? all[0]
}

/** Everything that shows or holds an address or its reservation, except the exempt. Pure. */
export function findUsers(used: UsedAddress, all: PossibleUsers, exempt: Exempt): AddressUser[] {
  const address = used.address === undefined ? undefined : canonicalIpAddress(used.address)
  const services = all.services.flatMap((service): AddressUser[] => {
    const key = keyOf(service)
    // Each place counts alone: a status that we wrote does not make a user-chosen address in the spec ours.
    const shown = shownAddresses(service, all.requestAnnotations)
      .filter((one) => one.address === address)
      .find((one) => !isServed(service, one, exempt) && countsAsUse(service, one, exempt))
    return shown ? [{ kind: 'Service', key, how: `shows it in ${shown.where}`, service }] : []
  })
  const records = all.records
    .filter(({ metadata }) => !exempt.records.includes(metadata.name))
    .filter((record) => isHolder(record, { ...used, address }))
    .map((record): AddressUser => ({ kind: 'ElasticIP', key: record.metadata.name, how: 'holds it', record }))
  return [...services, ...records]
}

/**
 * Whether the caller acts for a Service. A release acts only for an address that we wrote: a user may have written it
 * into a new Service of that name.
 */
function isServed(service: Service, shown: ShownAddress, exempt: Exempt): boolean {
  if (keyOf(service) !== exempt.service) return false
  const ours = canonicalIpAddress(service.metadata.annotations?.[addressAnnotation] ?? '')
  const isOwn = shown.where === 'spec.loadBalancerIP' && ours !== shown.address
  return !exempt.isRelease || !isOwn
}

/** Whether an address in this place counts as a use for the caller, by the table above. */
function countsAsUse({ metadata }: Service, { where }: ShownAddress, { service: exempt }: Exempt): boolean {
  return where === statusField || (exempt !== undefined && metadata.namespace === splitKey(exempt).namespace)
}

function isHolder(record: ElasticIP, { address, reservationID }: UsedAddress): boolean {
  const { status = {} } = record
  if (phaseOf(record) === 'Releasing') return false
  const isSameReservation = reservationID !== undefined && status.reservationID === reservationID
  return isSameReservation || (address !== undefined && canonicalIpAddress(status.address ?? '') === address)
}

/** The maximum number of users that a message names. */
const maxNamed = 5

function inUseText({ address, reservationID }: UsedAddress, users: readonly AddressUser[]): string {
  const named = users.slice(0, maxNamed).map(({ kind, key, how }) => `${kind} ${key} ${how}`)
  const rest = users.length > named.length ? ` and ${users.length - named.length} more` : ''
  const what = address === undefined ? `reservation ${reservationID}` : `address ${address}`
  return (
    `${what} is in use and stays reserved for now: ${named.join(', ')}${rest}. ` +
    'Delete what uses it, or give that another address; eip-admission looks again'
  )
}

// Which addresses a Service shows or requests: each question has one answer here.

/** The addresses and host names in the status of a Service. The API server itself adds ipMode, so it does not count. */
export function statusTexts(service: Pick<Service, 'status'>): string[] {
  return ingressOf(service).flatMap(({ ip, hostname }) => ip ?? hostname ?? [])
}

/** The addresses of a family in the status of a Service, as written there. */
export function statusTextsOf(service: Service, family: IpFamily): string[] {
  return ingressOf(service).flatMap(({ ip = '' }) => (parseIpAddress(ip)?.family === family ? [ip] : []))
}

/** Where a Service shows or requests an address. */
export type ShownAddress = { address: string; where: string }

export const statusField = 'status.loadBalancer'

/** The addresses that a Service shows in its status or requests anywhere, in canonical form. */
export function shownAddresses(service: Service, requestAnnotations: readonly string[]): ShownAddress[] {
  const { metadata, spec } = service
  const isRequest = spec.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined
  const annotations = isRequest ? [addressAnnotation, ...requestAnnotations] : []
  const requested = annotations.flatMap((name) =>
    (metadata.annotations?.[name] ?? '').split(',').map((value) => [value.trim(), `annotation ${name}`] as const),
  )
  const inSpec = isRequest ? [[spec.loadBalancerIP, 'spec.loadBalancerIP'] as const] : []
  const inText = [...inSpec, ...requested].flatMap(([text, where]) => {
    const address = text ? canonicalIpAddress(text) : undefined
    return address === undefined ? [] : [{ address, where }]
  })
  return [...statusAddresses(service).map((address) => ({ address, where: statusField })), ...inText]
}

/** The addresses that a Service shows in its status, in canonical form. */
export function statusAddresses(service: Pick<Service, 'status'>): string[] {
  return ingressOf(service).flatMap(({ ip }) => canonicalIpAddress(ip ?? '') ?? [])
}

export type Shown = Pick<Service, 'status'> & { metadata?: Service['metadata'] }

/** Whether a Service shows an address in its status, where announcing software writes which address it took. */
export function showsAddress(service: Shown | undefined, address: string | undefined): boolean {
  const wanted = canonicalIpAddress(address ?? '')
  return service !== undefined && wanted !== undefined && statusAddresses(service).includes(wanted)
}

/** Whether a Service shows no address, so that it may be the one for which a predecessor reserved an address. */
export function showsNone(service: Service): boolean {
  return service.spec.loadBalancerIP === undefined && ingressOf(service).length === 0
}

/** Whether a Service shows the address of a reservation. */
export function isShownBy(
  service: Service,
  { address }: Pick<Reservation, 'address'>,
  requestAnnotations: readonly string[],
): boolean {
  const canonical = canonicalIpAddress(address ?? '')
  return shownAddresses(service, requestAnnotations).some((shown) => shown.address === canonical)
}

/** Finds the records of the addresses that a Service showed before a change, but not after it. */
export function recordsOfFreedAddresses(
  list: () => ElasticIP[],
  requestAnnotations: readonly string[],
): (current: Service | undefined, previous: Service | undefined) => ElasticIP[] {
  const addressesOf = (service: Service | undefined) =>
    new Set(service ? shownAddresses(service, requestAnnotations).map(({ address }) => address) : [])
  return (current, previous) => {
    const freed = addressesOf(previous).difference(addressesOf(current))
    if (freed.size === 0) return []
    return list().filter(({ status }) => freed.has(canonicalIpAddress(status?.address ?? '') ?? ''))
  }
}
