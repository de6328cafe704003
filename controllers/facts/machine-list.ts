import type { Machine, Machines } from '../../clouds/ports/machines.ts'
import { type RecentRead, recentRead } from '../../lib/recent-read.ts'

/** The machines of a cloud, with one list for every caller who needs one. */
export type MachineList = Pick<Machines, 'machine'> & RecentRead<Machine[]>

/** A list that has not been read yet. */
export function machineList({ machines, now }: { machines: Machines; now: () => number }): MachineList {
  return {
    ...recentRead({ read: (signal) => machines.machines(signal), now }),
    machine: (id, signal) => machines.machine(id, signal),
  }
}
