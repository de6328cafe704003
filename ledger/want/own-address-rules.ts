// Whether a Service may have its own address. The first row that applies decides.
//
//   the address                                        | the Service
//   ---------------------------------------------------+-------------------------------------------------------------
//   is special: loopback, link-local, multicast, ...   | is refused, and loses it
//   is in a Service or pod range of the cluster        | is refused, and loses it
//   has a record whose reservation is being deleted    | is refused, and loses it
//   has a record for another namespace                 | is refused, and loses it
//   is used by an earlier Service of another namespace | is refused; keeps it with a warning if its status shows it
//   is a node's, or assigned to a machine              | is refused; keeps it with a warning if its status shows it
//   is provisioned for others, or in the warm pool     | is refused; keeps it with a warning if its status shows it
//   is in the operator's ranges, or has a record       | gets it
//   is another cluster's by its marks                  | is refused; keeps it with a warning if its status shows it
//   is in a reservation of the project                 | gets it
//   is in none, as far as we know                      | waits until the reservations of the project were read
//   is in none                                         | is refused; keeps it with a warning if its status shows it
import type { Marks } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpAddress, isIpv4Mapped, parseIpAddress } from '../../lib/ip-address.ts'
import { rangeSet } from '../../lib/ip-range.ts'
import { type ElasticIP, claimKey } from '../record/elastic-ip.ts'
import { marksText } from '../record/marks.ts'
import { isClaimed, isSource, reservedForOthers } from '../record/source.ts'
import { earlierUser, statusAddresses } from './address-users.ts'
import type { OwnAddressDoubt, Want } from './want.ts'

/** What decides whether a Service may have an own address. */
export type OwnAddressFacts = {
  /** The network of this cluster that contains the address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
  /** Whether the operator allows every address of its range. */
  isInRanges: (address: IpAddress) => boolean
  /** Whether the project has reserved it; undefined before its reservations were read. */
  isReserved: (address: IpAddress) => boolean | undefined
  /** The marks of its reservation, if these name another cluster. */
  marksOfOthers: (address: IpAddress) => Marks | undefined
  /** The node or machine that has it, for a message. */
  holder: (address: IpAddress) => string | undefined
  /** The records of an address, or of its reservation. */
  records: (address: IpAddress) => ElasticIP[]
  /** The Services that use a canonical address. */
  users: (address: string) => Service[]
}

type OwnWant = Extract<Want, { kind: 'own' }>

/** What a Service wants, after a check of its own address, if it has one. */
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

/** Whether the network may learn the own address of a Service: one that is in doubt only where the Service shows it. */
export function isAnnounceable(service: Service, { address, doubt }: OwnWant): boolean {
  return doubt === undefined || statusAddresses(service).includes(address)
}

function refused(wanted: OwnWant, reason: string, more: { forbiddenAddress?: string } = {}): Want {
  return { kind: 'wrong', problems: [problemOf(wanted, reason)], ...more }
}

function problemOf({ where, address }: OwnWant, reason: string): string {
  return `${where}: "${address}" ${reason}`
}

/** Why no Service of this namespace can have the address, even if it shows it already. */
function forbiddenReason(service: Service, address: IpAddress, facts: OwnAddressFacts): string | undefined {
  const special = specialKind(address)
  if (special !== undefined) return `${special}, which no Service can have: ${advice}`
  const network = facts.clusterNetwork(address)
  if (network !== undefined) return `is ${network} of this cluster: ${advice}`
  for (const record of facts.records(address)) {
    if (record.status?.deletionRequestedAt !== undefined) {
      return `is given back to the cloud (ElasticIP ${record.metadata.name}): ${advice}`
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
  const earlier = earlierUser(service, address.text, facts.users(address.text))
  if (earlier !== undefined) {
    return { isDecided: true, reason: `is used by Service ${earlier}, which is in another namespace: ${advice}` }
  }
  const holder = facts.holder(address)
  if (holder !== undefined) return { isDecided: true, reason: `is assigned to ${holder}: ${advice}` }
  const records = facts.records(address)
  const others = records
    .map((record) => reservedForOthers(record, keyOf(service)))
    .find((reason) => reason !== undefined)
  if (others !== undefined) return { isDecided: true, reason: `${others}: ${advice}` }
  if (facts.isInRanges(address) || records.length > 0) return undefined
  const marks = facts.marksOfOthers(address)
  if (marks !== undefined) {
    const whose = `is another cluster's reservation by its marks (${marksText(marks)})`
    return { isDecided: true, reason: `${whose}: ${advice}, or ${operatorAdvice}` }
  }
  switch (facts.isReserved(address)) {
    case true:
      return undefined
    case undefined:
      return {
        isDecided: false,
        reason: 'is announced as soon as we know that the project has reserved it: the cloud has not answered yet',
      }
    case false:
      return {
        isDecided: true,
        reason: `is no reservation of the project: ${advice} (one reserved a moment ago is known in seconds), or ${operatorAdvice}`,
      }
  }
}

const advice = 'leave the field out to get an address, or name one that the project has reserved'
const operatorAdvice = 'ask the operator to allow its network with --own-address-ranges'

/** Addresses that mean something only inside a host or a link, or nothing at all (IANA's special-purpose registries). */
const specialKinds: readonly { what: string; contains: (address: IpAddress) => boolean }[] = [
  { what: 'is an unspecified address', contains: rangeSet(['0.0.0.0/32', '::/128']) },
  { what: 'is a loopback address', contains: rangeSet(['127.0.0.0/8', '::1/128']) },
  { what: 'is a link-local address', contains: rangeSet(['169.254.0.0/16', 'fe80::/10']) },
  { what: 'is a multicast address', contains: rangeSet(['224.0.0.0/4', 'ff00::/8']) },
  { what: 'is the broadcast address', contains: rangeSet(['255.255.255.255/32']) },
  { what: 'is in a range that IETF protocols use', contains: rangeSet(['0.0.0.0/8', '192.0.0.0/24', '240.0.0.0/4']) },
  { what: 'is an IPv4 address written as IPv6', contains: isIpv4Mapped },
]

/** Why an address can be no Service's, whoever owns it; undefined for an ordinary one. */
export function specialKind(address: IpAddress): string | undefined {
  return specialKinds.find(({ contains }) => contains(address))?.what
}
