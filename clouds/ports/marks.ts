import type { Marks } from './cloud.ts'

/** Whether all wanted marks are present. */
export function hasMarks(marks: Marks, wanted: Marks): boolean {
  return Object.entries(wanted).every(([key, value]) => marks[key] === value)
}
