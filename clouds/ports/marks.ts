import { inTurn } from '../../lib/in-turn.ts'
import type { Cloud, Marked, Marks, Reservation } from './cloud.ts'

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

/** The calls by which a vendor's client changes its reservations. `Found` has the tags too, as they were read. */
type Changing<Found> = {
  find(id: string, signal: AbortSignal): Promise<Found | undefined>
  /** Writes the tags of these marks, and all others as they were read: people edit them too. */
  write(found: Found, marks: Record<string, string | undefined>, signal: AbortSignal): Promise<unknown>
  /** Throws if something has the address. */
  requireUnassigned(reservation: Pick<Reservation, 'id' | 'address' | 'holder'>): void
  remove(id: string, signal: AbortSignal): Promise<unknown>
}

/**
 * Changes reservations after a live read of each, as the API replaces all tags, and may delete an address in use. Without
 * the caller's marks, it is another reservation with the same id.
 */
export function changesOf<Found extends { reservation: Omit<Reservation, 'createdAt'> }>(
  changing: Changing<Found>,
): Pick<Cloud, 'mark' | 'release'> {
  const findMarked = async ({ id, marks }: Marked, signal: AbortSignal) => {
    const found = await changing.find(id, signal)
    return found && hasMarks(found.reservation.marks, marks) ? found : undefined
  }
  return changedInTurn({
    async mark(marked, marks, signal) {
      const found = await findMarked(marked, signal)
      const isChanged = Object.entries(marks).some(([name, value]) => found?.reservation.marks[name] !== value)
      if (found && isChanged) await changing.write(found, marks, signal)
    },
    async release(marked, signal) {
      const found = await findMarked(marked, signal)
      if (!found) return
      changing.requireUnassigned(found.reservation)
      await changing.remove(marked.id, signal)
    },
  })
}
