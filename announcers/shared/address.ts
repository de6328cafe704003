import { type IpAddress, isIpv4Mapped, parseIpAddress } from '../../lib/ip-address.ts'

/** The address that a text holds; undefined for one that some programs read as IPv4 and others as IPv6. */
export function parseAddress(text: string): IpAddress | undefined {
  const address = parseIpAddress(text)
  return address && isIpv4Mapped(address) ? undefined : address
}

/** The prefix that holds this address and no other: announcing software accepts no bare address. */
export function prefixOf({ text, family }: IpAddress): string {
  return family === 'ipv4' ? `${text}/32` : `${text}/128`
}

/** The address as a part of the name of an object; different addresses give different parts. */
export function nameOf({ text }: IpAddress): string {
  const padded = text.replace(/^::/, '0::').replace(/::$/, '::0')
  return padded.replaceAll(':', '-')
}
