import { type Range, sizeOf } from './ipv4.ts'

export type Allocation = {
  range: Range
  /** Frees the block. A second call does nothing, even if the block has been allocated again. */
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
  const parts = ranges.map((range) => ({ range, marks: new Uint8Array(sizeOf(range.cidr)) }))

  const findFree = (size: number, fromEnd: boolean) => {
    for (const { range, marks } of fromEnd ? parts.toReversed() : parts) {
      const count = Math.floor(marks.length / size)
      for (let n = 0; n < count; n += 1) {
        const offset = (fromEnd ? count - 1 - n : n) * size
        if (marks.subarray(offset, offset + size).every((mark) => mark === 0)) return { range, marks, offset }
      }
    }
    return undefined
  }

  const allocate = (cidr: number, fromEnd: boolean): Allocation | undefined => {
    const size = sizeOf(cidr)
    const found = findFree(size, fromEnd)
    if (!found) return undefined
    const { range, marks, offset } = found
    const mark = (value: 0 | 1) => marks.fill(value, offset, offset + size)
    let isAllocated = true
    mark(1)
    const free = () => {
      if (isAllocated) mark(0)
      isAllocated = false
    }
    return { range: { first: range.first + offset, cidr }, free }
  }
  return { allocateFirst: (cidr) => allocate(cidr, false), allocateLast: (cidr) => allocate(cidr, true) }
}

/** Whether an address is the reserved one, or is in the reserved IPv6 network, which ends with `::/64`. */
export function contains(reserved: string, address: string): boolean {
  return reserved === address || (reserved.endsWith('::/64') && address.startsWith(reserved.slice(0, -'/64'.length)))
}
