import { inTurn } from '../../lib/in-turn.ts'
import type { Cloud, Marks } from './cloud.ts'

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

/**
 * The same cloud, but changes of one reservation run one after another. A vendor's API replaces all tags, so each change
 * reads them first, and would undo another one that ran meanwhile.
 */
export function changedInTurn<Changing extends Pick<Cloud, 'mark' | 'release'>>(cloud: Changing): Changing {
  const changes = inTurn()
  return {
    ...cloud,
    mark: (reservation, marks, signal) => changes.run(reservation.id, () => cloud.mark(reservation, marks, signal)),
    release: (reservation, signal) => changes.run(reservation.id, () => cloud.release(reservation, signal)),
  }
}
