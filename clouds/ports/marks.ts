import type { Marks } from './cloud.ts'

/** Whether all wanted marks are present. */
export function hasMarks(marks: Marks, wanted: Marks): boolean {
  return Object.entries(wanted).every(([key, value]) => marks[key] === value)
}

/**
 * The marks among tags that may repeat a name. A name with two different values is no mark, because it does not prove
 * whose reservation this is. Without proof we never delete a reservation.
 */
export function marksAmong(tags: readonly (readonly [name: string, value: string])[]): Marks {
  const values = Map.groupBy(tags, ([name]) => name)
  const isMark = ([name, value]: readonly [string, string]) =>
    name !== '' && values.get(name)?.every(([, other]) => other === value)
  return Object.fromEntries(tags.filter(isMark))
}
