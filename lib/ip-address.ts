import { isIPv4, isIPv6, BlockList } from 'node:net'

// Node parses addresses like the C library. The package ipaddr.js 2.5.0 is no substitute: it reads `::192.0.2.1` as
// `::ffff:192.0.2.1` and accepts `::ffff:01.2.3.4`. So two addresses could pass for one.

export type IpFamily = 'ipv4' | 'ipv6'

/** The names of the families, as people and Kubernetes write them. */
export const familyNames = { ipv4: 'IPv4', ipv6: 'IPv6' } as const satisfies Record<IpFamily, string>

/** An IP address in its canonical form (RFC 5952): equal addresses have equal texts. */
export type IpAddress = { text: string; family: IpFamily }

/** The IP address in a text; undefined if it is none, or one with a zone such as `fe80::1%eth0`. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { text, family: 'ipv4' }
  if (!isIPv6(text) || text.includes('%')) return undefined
  return { text: new URL(`http://[${text}]`).hostname.slice(1, -1), family: 'ipv6' }
}

/** The canonical form of an IP address; undefined if the text is not an IP address. */
export function canonicalIpAddress(text: string): string | undefined {
  return parseIpAddress(text)?.text
}

/** Whether this is an IPv4 address written as IPv6 (`::ffff:192.0.2.1`): some programs read it as IPv4, some as IPv6. */
export function isIpv4Mapped({ text }: IpAddress): boolean {
  return /^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(text)
}

/** Whether a canonical address is `0.0.0.0` or `::`, which stand for a family rather than an address. */
export function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

/** The first address for a host in an IPv6 network, `2001:db8:1:2::1` of `2001:db8:1:2::/64`; undefined for any other text. */
export function firstHostOf(network: string): string | undefined {
  const [text = '', length] = network.split('/')
  const address = length === undefined ? undefined : canonicalIpAddress(text)
  return address?.endsWith('::') ? `${address}1` : undefined
}

/** Whether an address is in one of the ranges: `192.0.2.0/24` or `192.0.2.1-192.0.2.9`. Other texts match nothing. */
export function isInRanges({ text, family }: IpAddress, ranges: readonly string[]): boolean {
  // A BlockList counts an IPv4 address as part of `::/0`, as if it were written as IPv6.
  return ranges.some((range) => familyOf(range) === family && parseRange(range)?.check(text, family))
}

/** The same for many addresses and fixed ranges, which are parsed once. */
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

/** An IPv4 network in CIDR notation; undefined if the address or the prefix length is invalid. */
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
