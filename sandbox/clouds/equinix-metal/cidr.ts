import { formatIpv4, parseIpv4 } from '../ipv4.ts'

/** A block of either family: its first address as a number, and its prefix length. */
export type Cidr = { family: 4 | 6; first: bigint; length: number }

/** Reads an address or a block, and drops the bits after the prefix; undefined for anything else. */
export function parseCidr(text: string): (Cidr & { address: bigint }) | undefined {
  const [address = '', prefix] = text.split('/')
  const ipv4 = parseIpv4(address)
  const family = ipv4 === undefined ? 6 : 4
  const number = ipv4 === undefined ? parseIpv6(address) : BigInt(ipv4)
  const bits = family === 4 ? 32 : 128
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  if (number === undefined || length < 0 || length > bits) return undefined
  const size = sizeOfCidr({ family, length })
  return { family, first: (number / size) * size, length, address: number }
}

/** Returns how many addresses a block has. */
function sizeOfCidr({ family, length }: Pick<Cidr, 'family' | 'length'>): bigint {
  return 1n << BigInt((family === 4 ? 32 : 128) - length)
}

/** Whether a block contains all of another one. */
export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.length <= inner.length && overlaps(outer, inner)
}

/** Whether two blocks have an address in common. */
export function overlaps(one: Cidr, other: Cidr): boolean {
  if (one.family !== other.family) return false
  return one.first < other.first + sizeOfCidr(other) && other.first < one.first + sizeOfCidr(one)
}

const maxParts = 256n

/** Splits a block into parts of a longer prefix; returns none if there would be more than 256. */
export function partsOf(block: Cidr, length: number): Cidr[] {
  const bits = block.family === 4 ? 32 : 128
  if (!Number.isInteger(length) || length < block.length || length > bits) return []
  const size = sizeOfCidr({ family: block.family, length })
  const count = sizeOfCidr(block) / size
  if (count > maxParts) return []
  return Array.from({ length: Number(count) }, (_, n) => ({ ...block, length, first: block.first + BigInt(n) * size }))
}

/** Formats an address: IPv6 in its short form, as the vendor writes single addresses. */
export function formatAddress(family: 4 | 6, address: bigint): string {
  if (family === 4) return formatIpv4(Number(address))
  const groups = Array.from({ length: 8 }, (_, n) => ((address >> BigInt(112 - 16 * n)) & 0xffffn).toString(16))
  const text = groups.join(':')
  const zeros = text.match(/(^|:)0(:0)+(:|$)/g) ?? []
  const [longest] = zeros.toSorted((a, b) => b.length - a.length)
  return longest === undefined ? text : text.replace(longest, '::')
}

/** Formats the netmask of a prefix length. */
export function formatNetmask(family: 4 | 6, length: number): string {
  const bits = family === 4 ? 32 : 128
  const mask = ((1n << BigInt(length)) - 1n) << BigInt(bits - length)
  if (family === 4) return formatIpv4(Number(mask))
  const hex = mask.toString(16).padStart(32, '0')
  return hex.replace(/.{4}(?=.)/g, '$&:')
}

function parseIpv6(text: string): bigint | undefined {
  const [head = '', tail, ...more] = text.split('::')
  const groupsOf = (part: string | undefined) => (part ? part.split(':') : [])
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const missing = 8 - before.length - after.length
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after]
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined
  return BigInt(`0x${groups.map((group) => group.padStart(4, '0')).join('')}`)
}
