import type { Marked, Marks } from './cloud.ts'
import { hasMarks } from './marks.ts'

/** An address of the project and the machines that get its traffic. */
export type AssignedAddress = {
  /** The id of the reservation. */
  id: string
  address: string
  /** Ids of the machines that it is assigned to. Normally one; none after half a move or a manual change. */
  machines: string[]
  /** Its tags, in the form that `assignedAddresses` takes. */
  tags: string[]
  /** Its marks, the same as its reservation's. */
  marks: Marks
  /**
   * The places where it is at home, the narrowest first, named like the machines'. Traffic from a machine elsewhere
   * takes longer, or the provider refuses that machine. Absent if the vendor names none.
   */
  home?: readonly string[]
}

/**
 * An address to move, with the marks that were read, or the tag by which it was found. A reservation that lacks them
 * now is another one with the same id, so the wanted one counts as deleted.
 */
export type Movable = Marked & { tag?: string }

export type MoveOptions = {
  signal: AbortSignal
  /**
   * How long a write that begins now may take, including its wait for a turn; asked before each one. With less than
   * `leastWriteMs`, the move ends with an error. The provider may execute a write after we stop waiting, so its error
   * then has the outcome `unknown`.
   */
  writeMs: () => number
}

/** A write with less time would often end without an answer. */
export const leastWriteMs = 1_000
/** The next look tells more than a longer wait. */
export const longestWriteMs = 5_000

/** Which machine an address is assigned to, for providers that route an address to one machine. */
export type Assignments = {
  /**
   * Every reservation of the project that has an address and this tag, whatever its other tags are; without a tag,
   * every one with an address. A tag has the provider's form: a text, or `key=value`.
   */
  assignedAddresses(tag: string | undefined, signal: AbortSignal): Promise<AssignedAddress[]>
  /** The same for one reservation, read live; undefined if the provider answers that it does not exist. */
  assignedAddress(id: string, signal: AbortSignal): Promise<AssignedAddress | undefined>
  /**
   * Assigns the address to this machine and to no other, and returns when the provider has done so. `from` are the
   * machines that have it, if the caller has just read that. A move may take several writes, and a later call continues
   * where one stopped. It never assigns an address that another machine still has. The outcome of its errors describes
   * the whole move: `unknown` as soon as one write was, or may have been, executed.
   */
  move(target: Movable & { machine: string; from?: readonly string[] }, options: MoveOptions): Promise<void>
  /** Takes the address from the machines that it is assigned to. Success if there are none, or it is deleted. */
  unassign(target: Movable, options: MoveOptions): Promise<void>
}

/** Whether an address is still the one that a caller has read. */
export function isStill({ marks, tags }: AssignedAddress, movable: Omit<Movable, 'id'>): boolean {
  return hasMarks(marks, movable.marks) && (movable.tag === undefined || tags.includes(movable.tag))
}
