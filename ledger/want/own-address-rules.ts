// Whether a Service may have its own address. The first row that applies decides.
//
//   the address                                        | the Service
//   ---------------------------------------------------+-------------------------------------------------------------
//   is special: loopback, link-local, multicast, ...   | is refused, and loses it
//   is in a Service range of the cluster               | is refused, and loses it
//   has a record whose reservation is being deleted    | is refused, and loses it
//   has a record for another namespace                 | is refused, and loses it
//   is used by an earlier Service of another namespace | is refused; keeps it with a warning if its status shows it
//   is used by an earlier Service on the same port     | waits for it; keeps it with a warning if its status shows it
//   is assigned to a machine by the cloud              | is refused; keeps it with a warning if its status shows it
//   is provisioned for others, or in the warm pool     | is refused; keeps it with a warning if its status shows it
//   has a record                                       | gets it
//   is in the operator's ranges, and no Node claims it | gets it
//   is another cluster's or Service's by its marks     | is refused; keeps it with a warning if its status shows it
//   is in a reservation of the project                 | gets it, whatever a Node says
//   is in none, as far as we know                      | waits until the reservations of the project were read
//   is in none, and a Node claims it                   | is refused; keeps it with a warning if its status shows it
//   is in none                                         | is refused; keeps it with a warning if its status shows it
//
// A kubelet writes its own Node. So a Node takes nothing from a Service. It only keeps new Services from addresses of
// nodes and pods that lie in the operator's ranges.
import type { MarkScheme, Reservation } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpAddress, canonicalIpAddress, isIpv4Mapped, parseIpAddress, rangeSet } from '../../lib/ip-address.ts'
import { statusAddresses } from '../record/address-use.ts'
import { type ElasticIP, claimKey, decidingRecords } from '../record/elastic-ip.ts'
import { marksText, whoseByMarks } from '../record/marks.ts'
import { isClaimed, isSource, reservedForOthers } from '../record/source.ts'
import { type Policy, hasClass } from '../../settings/service-policy.ts'
import { ownAddress } from './own-address.ts'
import type { OwnAddressDoubt, Want } from './want.ts'

/** The facts that decide whether a Service may have a user-chosen address. */
export type OwnAddressFacts = {
  /** The Service range of this cluster that contains the address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
  /** Whether the operator allows every address of its range. */
  isInRanges: (address: IpAddress) => boolean
  /** Whether the project has reserved it; undefined before its reservations were read. */
  isReserved: (address: IpAddress) => boolean | undefined
  /** The reservation of the project that has it. */
  reservation: (address: IpAddress) => Reservation | undefined
  scheme: MarkScheme
  /** The Node that claims the address as its own or its pods', for a message. */
  nodeClaim: (address: IpAddress) => string | undefined
  /** The records of an address, or of its reservation. */
  records: (address: IpAddress) => ElasticIP[]
  /** The Services that use a canonical address. */
  users: (address: string) => Service[]
}

type OwnWant = Extract<Want, { kind: 'own' }>

/** The want of a Service after the check of its own address, if it has one. */
export function checkOwnAddress(wanted: Want, service: Service, facts: OwnAddressFacts): Want {
  const address = wanted.kind === 'own' ? parseIpAddress(wanted.address) : undefined
  if (wanted.kind !== 'own' || !address) return wanted
  const forbidden = forbiddenReason(service, address, facts)
  if (forbidden !== undefined) return refused(wanted, forbidden, { forbiddenAddress: address.text })
  const doubt = doubtOf(service, address, facts)
  if (!doubt) return wanted
  if (doubt.isDecided && !statusAddresses(service).includes(address.text)) return refused(wanted, doubt.reason)
  return { ...wanted, doubt: { ...doubt, reason: problemOf(wanted, doubt.reason) } }
}

/** Whether a Service's own address may be announced. A doubtful one is announced only if the Service already shows it. */
export function isAnnounceable(service: Service, { address, doubt }: OwnWant): boolean {
  return doubt === undefined || statusAddresses(service).includes(address)
}

/** Whether a Service requests this canonical address as its own. */
export function requestsAsOwn(wanted: Want, address: string): boolean {
  return wanted.kind === 'own' && wanted.address === address
}

function refused(wanted: OwnWant, reason: string, more: { forbiddenAddress?: string } = {}): Want {
  return { kind: 'wrong', problems: [problemOf(wanted, reason)], ...more }
}

function problemOf({ where, address }: OwnWant, reason: string): string {
  return `${where}: "${address}" ${reason}`
}

/** Why no Service of this namespace can have the address, even if it already shows it. */
function forbiddenReason(service: Service, address: IpAddress, facts: OwnAddressFacts): string | undefined {
  const special = specialKind(address)
  if (special !== undefined) return `${special}, which no Service can have: ${advice}`
  const network = facts.clusterNetwork(address)
  if (network !== undefined) return `is ${network} of this cluster: ${advice}`
  for (const record of decidingRecords(facts.records(address))) {
    if (record.status?.deletionRequestedAt !== undefined) {
      return `is released at the provider (ElasticIP ${record.metadata.name}): ${advice}`
    }
    const { claimRef } = record.spec
    const isHeld = !isSource(record) || isClaimed(record)
    if (isHeld && claimRef && claimRef.namespace !== service.metadata.namespace) {
      return `is held by Service ${claimKey(record)}, which is in another namespace: ${advice}`
    }
  }
  return undefined
}

function doubtOf(service: Service, address: IpAddress, facts: OwnAddressFacts): OwnAddressDoubt | undefined {
  const earlier = earlierUsers(service, address.text, facts.users(address.text))
  const foreign = earlier.find(({ metadata }) => metadata.namespace !== service.metadata.namespace)
  if (foreign) {
    return { isDecided: true, reason: `is used by Service ${keyOf(foreign)}, which is in another namespace: ${advice}` }
  }
  const clash = earlier.flatMap((other) => sharedPorts(service, other).map((port) => ({ other, port })))[0]
  if (clash) {
    const reason = `is used by Service ${keyOf(clash.other)} on port ${clash.port} too: change the port, or delete one of the two Services`
    return { isDecided: statusAddresses(service).includes(address.text), reason, sharesPort: true }
  }
  const holder = facts.reservation(address)?.holder
  if (holder !== undefined) return { isDecided: true, reason: `is assigned to ${holder}: ${advice}` }
  const records = decidingRecords(facts.records(address))
  const others = records
    .map((record) => reservedForOthers(record, keyOf(service)))
    .find((reason) => reason !== undefined)
  if (others !== undefined) return { isDecided: true, reason: `${others}: ${advice}` }
  if (records.length > 0) return undefined
  const claim = facts.isInRanges(address) ? facts.nodeClaim(address) : undefined
  return facts.isInRanges(address) && claim === undefined
    ? undefined
    : doubtOfReservation({ service, address, claim }, facts)
}

function doubtOfReservation(
  { service, address, claim }: { service: Service; address: IpAddress; claim: string | undefined },
  facts: OwnAddressFacts,
): OwnAddressDoubt | undefined {
  const reservation = facts.reservation(address)
  const whose = reservation && whoseByMarks(facts.scheme, keyOf(service), reservation)
  if (whose === 'cluster' || whose === 'service') {
    const text = `is another ${whose === 'cluster' ? 'cluster' : 'Service'}'s reservation according to its marks (${marksText(reservation?.marks ?? {})})`
    return { isDecided: true, reason: `${claim ?? text}: ${advice}, or ${operatorAdvice}` }
  }
  switch (facts.isReserved(address)) {
    case true:
      return undefined
    case undefined:
      return {
        isDecided: false,
        reason: 'is announced once it is confirmed that the project has reserved it: the provider has not answered yet',
      }
    case false:
      if (claim !== undefined) return { isDecided: true, reason: `${claim}: ${advice}` }
      return {
        isDecided: true,
        reason: `is not reserved in this project: ${advice} (a new reservation is recognized within seconds), or ${operatorAdvice}`,
      }
  }
}

/**
 * The other Services that used an address first. A Service that shows it in its status precedes one that only requests
 * it, because tenants may not write the status. Otherwise the older one came first.
 */
function earlierUsers(service: Service, address: string, users: readonly Service[]): Service[] {
  return users.filter((other) => keyOf(other) !== keyOf(service) && compareUse(other, service, address) < 0)
}

/** The ports on which both would serve. kube-proxy delivers each to only one; not all software refuses the other. */
function sharedPorts(service: Service, other: Service): string[] {
  const portsOf = ({ spec: { ports = [] } }: Service) =>
    ports.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`)
  const own = portsOf(service)
  return portsOf(other).filter((port) => own.includes(port))
}

/** Orders the Services that use an address: those that show it in their status, then the older ones. */
export function compareUse(one: Service, other: Service, address: string): number {
  const order = ({ metadata, status }: Service) => {
    const isShown = statusAddresses({ ...(status && { status }) }).includes(address)
    // A Service that is being created has no timestamp yet.
    return `${isShown ? 0 : 1} ${metadata.creationTimestamp ?? '9'} ${metadata.namespace}/${metadata.name}`
  }
  return order(one) < order(other) ? -1 : 1
}

const advice = 'leave the field out to get an address, or name one that the project has reserved'
const operatorAdvice = 'ask the operator to allow its network with --own-address-ranges'

/** Addresses that are meaningful only inside a host or a link, or not at all (IANA's special-purpose registries). */
const specialKinds: readonly { what: string; contains: (address: IpAddress) => boolean }[] = [
  { what: 'is an unspecified address', contains: rangeSet(['0.0.0.0/32', '::/128']) },
  { what: 'is a loopback address', contains: rangeSet(['127.0.0.0/8', '::1/128']) },
  { what: 'is a link-local address', contains: rangeSet(['169.254.0.0/16', 'fe80::/10']) },
  { what: 'is a multicast address', contains: rangeSet(['224.0.0.0/4', 'ff00::/8']) },
  { what: 'is the broadcast address', contains: rangeSet(['255.255.255.255/32']) },
  { what: 'is in a range that IETF protocols use', contains: rangeSet(['0.0.0.0/8', '192.0.0.0/24', '240.0.0.0/4']) },
  { what: 'is an IPv4 address written as IPv6', contains: isIpv4Mapped },
]

/** Why no Service can have an address, whoever owns it; undefined for an ordinary one. */
export function specialKind(address: IpAddress): string | undefined {
  return specialKinds.find(({ contains }) => contains(address))?.what
}

/**
 * The addresses that a Service shows, or requests as its own from the software that we configure, in canonical form. An
 * address that it marks as ours counts by the record that holds it.
 */
export function usedAddresses(
  service: Service,
  { classes, requestAnnotations }: Pick<Policy, 'classes' | 'requestAnnotations'>,
): string[] {
  const isRequest = service.spec.type === 'LoadBalancer' && hasClass(service, classes)
  const own = isRequest ? canonicalIpAddress(ownAddress(service, requestAnnotations)?.address ?? '') : undefined
  return [...new Set([...statusAddresses(service), ...(own === undefined ? [] : [own])])]
}
