import { BlockList, isIPv4, isIPv6 } from 'node:net'

export type Family = 'ipv4' | 'ipv6'

/** An address as everybody writes it (RFC 5952), so that texts compare. */
export type Address = { text: string; family: Family }

/** The address that a text says; undefined where it is none, or one that is read as IPv4 by some and as IPv6 by others. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { text, family: 'ipv4' }
  if (!isIPv6(text) || text.includes('%')) return undefined
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const isMapped = /^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(canonical)
  return isMapped ? undefined : { text: canonical, family: 'ipv6' }
}

/** The prefix that holds the address and no other: MetalLB takes no bare address. */
export function prefixOf({ text, family }: Address): string {
  return family === 'ipv4' ? `${text}/32` : `${text}/128`
}

/** The address as a part of the name of an object, different for every address. */
export function nameOf({ text }: Address): string {
  const padded = text.replace(/^::/, '0::').replace(/::$/, '::0')
  return padded.replaceAll(':', '-')
}

/** Whether an address lies in one of a pool's ranges: `192.0.2.0/24` or `192.0.2.1-192.0.2.9`. */
export function isWithin({ text, family }: Address, ranges: readonly string[]): boolean {
  return ranges.some((range) => blockOf(range)?.check(text, family))
}

/** Undefined where a person wrote something that is no range: MetalLB says so, and takes nothing of it. */
function blockOf(range: string): BlockList | undefined {
  const block = new BlockList()
  try {
    const [first = '', last] = range.split(/-(.*)/, 2).map((part) => part.trim())
    const [address = '', length] = first.split('/', 2)
    if (last !== undefined) block.addRange(first, last, familyOf(first))
    else block.addSubnet(address, Number(length), familyOf(address))
    return block
  } catch {
    return undefined
  }
}

function familyOf(text: string): Family {
  return isIPv6(text) ? 'ipv6' : 'ipv4'
}
