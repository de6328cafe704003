import type { AssignedAddress, Assignments, MoveOptions } from '../../clouds/ports/assignments.ts'

/** What leads users to the control plane: an address of the cloud, and the machines that it leads to. */
export type Front = Pick<AssignedAddress, 'id' | 'address' | 'machines'>

/** One of them, and whether our setting still names it. */
export type ReadFront = Front & { isNamed: boolean }

/** The part of the cloud that shows which machines users reach. */
export type FrontReader = {
  /** How people find it at the cloud: `tag eip-tag`. */
  readonly name: string
  /** What an operator should know if there is none, where it is no reservation. */
  readonly missing?: string
  /** Every front that our setting names; there should be one. */
  fronts(signal: AbortSignal): Promise<Front[]>
  /** One of them, read live; undefined is a proof that it is gone. */
  front(id: string, signal: AbortSignal): Promise<ReadFront | undefined>
}

/** The part of the cloud that decides which machine users reach. */
export type FrontPort = FrontReader & {
  /** Makes it lead to this machine and to no other. A next call continues where one stopped. */
  assign(target: { id: string; machine: string }, options: MoveOptions): Promise<void>
}

/** An address with this tag, at a cloud that assigns an address to one machine. */
export function taggedAddress(assignments: Assignments, tag: string): FrontPort {
  return {
    name: `tag ${tag}`,
    fronts: async (signal) => (await assignments.assignedAddresses(tag, signal)).map(withoutTags),
    async front(id, signal) {
      const found = await assignments.assignedAddress(id, signal)
      return found && { ...withoutTags(found), isNamed: found.tags.includes(tag) }
    },
    assign: (target, options) => assignments.move(target, options),
  }
}

function withoutTags({ id, address, machines }: AssignedAddress): Front {
  return { id, address, machines }
}
