import { type Range, parseRange, sizeOf, split } from './ipv4.ts'

export type Lease = {
  range: Range
  /** Once given back, a lease has no say over who has the block next. */
  giveBack: () => void
}

export type Pool = {
  /** The lowest free block of a size; undefined when none is left. */
  takeFirst(cidr: number): Lease | undefined
  /** The highest one. */
  takeLast(cidr: number): Lease | undefined
}

/** Hands out blocks of the given ranges, and no address twice at once. */
export function makePool(ranges: Range[]): Pool {
  const taken = ranges.map((range) => new Uint8Array(sizeOf(range.cidr)))

  const take = (cidr: number, fromEnd: boolean): Lease | undefined => {
    const candidates = ranges.flatMap((range, n) =>
      cidr < range.cidr
        ? []
        : split(range, cidr).map((block) => ({ block, marks: taken[n], offset: block.first - range.first })),
    )
    const isFree = ({ marks, offset }: (typeof candidates)[number]) =>
      marks?.subarray(offset, offset + sizeOf(cidr)).every((mark) => mark === 0)
    const found = fromEnd ? candidates.findLast(isFree) : candidates.find(isFree)
    if (!found) return undefined
    const { block, marks, offset } = found
    const mark = (value: 0 | 1) => marks?.fill(value, offset, offset + sizeOf(cidr))
    let isOut = true
    mark(1)
    const giveBack = () => {
      if (isOut) mark(0)
      isOut = false
    }
    return { range: block, giveBack }
  }
  return { takeFirst: (cidr) => take(cidr, false), takeLast: (cidr) => take(cidr, true) }
}

export type AddressSpace = {
  /** The public addresses of a metro: reservations are cut from the low end, management blocks from the high one. */
  publicIn(metro: string): Pool
  global: Pool
  private: Pool
  /** The prefix of the next free IPv6 /56, four groups long. */
  nextIpv6(): string
}

/** For documentation (RFC 5737): what people see first. */
const documentation = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24'].flatMap((text) =>
  split(parseRange(text), 27),
)
/** For benchmarks (RFC 2544), as routable as those: room for four thousand more in each metro. */
const benchmarking = split(parseRange('198.18.0.0/15'), 20)

/** Addresses for every metro, none of which belongs to anybody. */
export function makeAddressSpace(metros: string[]): AddressSpace {
  const global = benchmarking.at(-1)
  const pools = new Map(
    metros.map((metro, n) => [
      metro,
      makePool([documentation[n], benchmarking[n]].filter((range) => range !== undefined)),
    ]),
  )
  let ipv6Blocks = 0
  return {
    publicIn: (metro) => pools.get(metro) ?? makePool([]),
    global: makePool(global ? [global] : []),
    private: makePool([parseRange('10.64.0.0/12')]),
    nextIpv6() {
      ipv6Blocks += 1
      return `2001:db8:${ipv6Blocks.toString(16)}:fd00`
    },
  }
}
