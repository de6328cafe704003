import type { AssignedAddress, Movable } from './assignments.ts'
import type { Marks } from './cloud.ts'

/** Whether all wanted marks are present. */
export function hasMarks(marks: Marks, wanted: Marks): boolean {
  return Object.entries(wanted).every(([key, value]) => marks[key] === value)
}

/** Whether an address is still the one that a caller has read before. */
export function isStill({ marks, tags }: AssignedAddress, movable: Omit<Movable, 'id'>): boolean {
  return hasMarks(marks, movable.marks ?? {}) && (movable.tag === undefined || tags.includes(movable.tag))
}
