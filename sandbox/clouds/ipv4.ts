/** An IPv4 block: its first address as a number, and its prefix length. */
export type Range = { first: number; cidr: number }

/** Returns an IPv4 address as a number; undefined for anything else. */
export function parseIpv4(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (!parts || parts.some((part) => part > 255)) return undefined
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

/** Returns an address in dotted form. */
export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

/** Returns the netmask of a prefix length in dotted form. */
export function netmask(cidr: number): string {
  return formatIpv4((0xffffffff << (32 - cidr)) >>> 0)
}

/** Returns how many addresses a block of this prefix length has. */
export function sizeOf(cidr: number): number {
  return 2 ** (32 - cidr)
}

/** Splits a range into blocks of a longer prefix. */
export function split(range: Range, cidr: number): Range[] {
  return Array.from({ length: sizeOf(range.cidr) / sizeOf(cidr) }, (_, n) => ({
    first: range.first + n * sizeOf(cidr),
    cidr,
  }))
}

/** Parses a range such as `10.0.0.0/8`. */
export function parseRange(text: string): Range {
  const [address = '', cidr] = text.split('/')
  const first = parseIpv4(address)
  if (first === undefined) throw new Error(`${text} is not an IPv4 range`)
  return { first, cidr: Number(cidr) }
}
