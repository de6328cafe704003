import { type Range, sizeOf, split } from './ipv4.ts'

export type Allocation = {
  range: Range
  /** Frees the block. A second call does nothing, also when the block is allocated again. */
  free: () => void
}

export type Pool = {
  /** Allocates the lowest free block of a size; undefined when none is left. */
  allocateFirst(cidr: number): Allocation | undefined
  /** Allocates the highest free block of a size; undefined when none is left. */
  allocateLast(cidr: number): Allocation | undefined
}

/** Makes a pool that allocates blocks of the given ranges, and never an address twice at the same time. */
export function makePool(ranges: Range[]): Pool {
  const taken = ranges.map((range) => new Uint8Array(sizeOf(range.cidr)))

  const allocate = (cidr: number, fromEnd: boolean): Allocation | undefined => {
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
    let isAllocated = true
    mark(1)
    const free = () => {
      if (isAllocated) mark(0)
      isAllocated = false
    }
    return { range: block, free }
  }
  return { allocateFirst: (cidr) => allocate(cidr, false), allocateLast: (cidr) => allocate(cidr, true) }
}
