import type { Marked, Marks } from './cloud.ts'

/** An address of the project and the machines that its traffic goes to. */
export type AssignedAddress = {
  /** The id of the reservation. */
  id: string
  address: string
  /** Ids of the machines that it is assigned to. Normally one; none after half a move or by hand. */
  machines: string[]
  /** Its tags, written as `assignedAddresses` takes one. */
  tags: string[]
  /** Its marks, the same as its reservation's. */
  marks: Marks
  /**
   * The places where it is at home, the narrowest first, as machines name theirs. Traffic from a machine elsewhere takes
   * longer, or the cloud refuses that machine. Absent where the vendor names none.
   */
  home?: readonly string[]
}

/**
 * An address to move, with its marks as they were read, or the tag by which it was found. A reservation that lacks them
 * is now another one with the same id, and counts as deleted.
 */
export type Movable = Marked & { tag?: string }

export type MoveOptions = {
  signal: AbortSignal
  /**
   * How long a write that begins now may take, its wait for a turn included; asked before each. Less than `leastWriteMs`
   * ends the move with an error that says so. The cloud may carry out a write after we stop to wait for it, so its error
   * then has the outcome `unknown`.
   */
  writeMs: () => number
}

/** A write with less time would often end without an answer. */
export const leastWriteMs = 1_000
/** The next look tells more than a longer wait. */
export const longestWriteMs = 5_000

/** Which machine an address is assigned to, at clouds that route an address to one machine. */
export type Assignments = {
  /**
   * Every reservation of the project with this tag, whatever its other tags are, that has an address; without a tag, every
   * one. A tag is written as the cloud has it: as a text, or as `key=value`.
   */
  assignedAddresses(tag: string | undefined, signal: AbortSignal): Promise<AssignedAddress[]>
  /** The same for one reservation, read live; undefined proves that it is deleted. */
  assignedAddress(id: string, signal: AbortSignal): Promise<AssignedAddress | undefined>
  /**
   * Assigns the address to this machine and to no other, and returns when the cloud has done so. `from` are the machines
   * that have it, if the caller has just read that. It may take several writes, and a next call continues where one
   * stopped. It never assigns an address that another machine still has. The outcome of its errors describes the whole
   * move: `unknown` as soon as one write was carried out or may have been.
   */
  move(target: Movable & { machine: string; from?: readonly string[] }, options: MoveOptions): Promise<void>
  /** Takes the address from the machines that it is assigned to. Success if it is on none, or gone. */
  unassign(target: Movable, options: MoveOptions): Promise<void>
}

/** Whether all wanted marks are present. */
export function hasMarks(marks: Marks, wanted: Marks): boolean {
  return Object.entries(wanted).every(([key, value]) => marks[key] === value)
}

/** Whether an address is still the one that a caller has read before. */
export function isStill({ marks, tags }: AssignedAddress, movable: Omit<Movable, 'id'>): boolean {
  return hasMarks(marks, movable.marks) && (movable.tag === undefined || tags.includes(movable.tag))
}
