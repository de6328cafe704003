import { type IpAddress, isIpv4Mapped } from '../../lib/ip-address.ts'
import { rangeSet } from '../../lib/ip-range.ts'

/** Addresses that mean something only inside a host or a link, or nothing at all (IANA's special-purpose registries). */
const kinds: readonly { what: string; contains: (address: IpAddress) => boolean }[] = [
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
  return kinds.find(({ contains }) => contains(address))?.what
}
