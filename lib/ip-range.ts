import { BlockList, isIPv4 } from 'node:net'
import type { IpAddress, IpFamily } from './ip-address.ts'

/** Whether an address lies in one of the ranges: `192.0.2.0/24` or `192.0.2.1-192.0.2.9`. Other texts hold no address. */
export function isInRanges({ text, family }: IpAddress, ranges: readonly string[]): boolean {
  // A BlockList takes an IPv4 address for one in `::/0`, as if it were written as IPv6.
  return ranges.some((range) => familyOf(range) === family && parseRange(range)?.check(text, family))
}

/** The same for many addresses and ranges that stay: the ranges are parsed once. */
export function rangeSet(ranges: readonly string[]): (address: IpAddress) => boolean {
  const parsed = ranges.flatMap((range) => {
    const block = parseRange(range)
    return block ? [{ family: familyOf(range), block }] : []
  })
  return ({ text, family }) => parsed.some((range) => range.family === family && range.block.check(text, family))
}

/** Whether a text is a network in CIDR notation, such as `192.0.2.0/24`. */
export function isNetwork(text: string): boolean {
  return /^[0-9a-fA-F:.]+\/\d{1,3}$/.test(text) && parseRange(text) !== undefined
}

/** An IPv4 network in CIDR notation; undefined if the address or the length of its prefix is not valid. */
export function formatIpv4Network(address: string, prefixLength: number): string | undefined {
  const isValid = isIPv4(address) && Number.isInteger(prefixLength) && prefixLength >= 0 && prefixLength <= 32
  return isValid ? `${address}/${prefixLength}` : undefined
}

function parseRange(range: string): BlockList | undefined {
  const block = new BlockList()
  try {
    const [first = '', last] = range.split(/-(.*)/, 2).map((part) => part.trim())
    const [address = '', length] = first.split('/', 2)
    if (last !== undefined) block.addRange(first, last, familyOf(range))
    else block.addSubnet(address, Number(length), familyOf(range))
    return block
  } catch {
    return undefined
  }
}

function familyOf(range: string): IpFamily {
  return range.includes(':') ? 'ipv6' : 'ipv4'
}
