import type { Machine, Machines } from '../../clouds/ports/machines.ts'
import { recentRead } from '../../lib/recent-read.ts'

/** The machines of a cloud, with one list for every caller who needs one. */
export type MachineList = Pick<Machines, 'machine'> & {
  /** All machines, from a list at most so old. Callers who come while it is read get the same list. */
  within(ms: number, signal: AbortSignal): Promise<Machine[]>
  /** All machines, from a list that began at this time or later. */
  since(atMs: number, signal: AbortSignal): Promise<Machine[]>
  /** All machines of the last list, however old; undefined before the first one. */
  latest(): Machine[] | undefined
  /** Drops the last list. */
  forget(): void
}

/** A list that has not been read yet. */
export function machineList({ machines, now }: { machines: Machines; now: () => number }): MachineList {
  const list = recentRead({ read: (signal) => machines.machines(signal), now })
  return {
    within: (ms, signal) => list.within(ms, signal),
    latest: () => list.latest(),
    forget: () => list.forget(),
    since: (atMs, signal) => list.since(atMs, signal),
    machine: (id, signal) => machines.machine(id, signal),
  }
}
