import { type Range, sizeOf, split } from './ipv4.ts'

export type Allocation = {
  range: Range
  /** Once given back, a lease has no say over who has the block next. */
  free: () => void
}

export type Pool = {
  /** The lowest free block of a size; undefined when none is left. */
  allocateFirst(cidr: number): Allocation | undefined
  /** The highest one. */
  allocateLast(cidr: number): Allocation | undefined
}

/** Hands out blocks of the given ranges, and no address twice at once. */
export function makePool(ranges: Range[]): Pool {
  const taken = ranges.map((range) => new Uint8Array(sizeOf(range.cidr)))

  const take = (cidr: number, fromEnd: boolean): Allocation | undefined => {
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
    const free = () => {
      if (isOut) mark(0)
      isOut = false
    }
    return { range: block, free }
  }
  return { allocateFirst: (cidr) => take(cidr, false), allocateLast: (cidr) => take(cidr, true) }
}
