import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import type { MovableAddress } from '../moves/mover.ts'

/** What leads users to the control plane: an address of the cloud, and the machines that it leads to. */
export type ControlPlaneAddress = MovableAddress

/** One of them, and whether our setting still names it. */
export type ReadAddress = ControlPlaneAddress & { isNamed: boolean }

/** The part of the cloud that shows which machines users reach. */
export type AddressReader = {
  /** How people find it at the cloud: `tag eip-tag`. */
  readonly name: string
  /** What an operator should know if there is none, where it is no reservation. */
  readonly missing?: string
  /** Every address that our setting names; there should be one. */
  list(signal: AbortSignal): Promise<ControlPlaneAddress[]>
  /** One of them, read live; undefined is a proof that it is gone. */
  read(id: string, signal: AbortSignal): Promise<ReadAddress | undefined>
}

/** The part of the cloud that decides which machine users reach. */
export type AddressPort = AddressReader & {
  /** Makes it lead to this machine and to no other. A next call continues where one stopped. */
  assign: Assignments['move']
}

/** An address with this tag, at a cloud that assigns an address to one machine. */
export function taggedAddress(assignments: Assignments, tag: string): AddressPort {
  return {
    name: `tag ${tag}`,
    list: async (signal) => (await assignments.assignedAddresses(tag, signal)).map(withoutTags),
    async read(id, signal) {
      const found = await assignments.assignedAddress(id, signal)
      return found && { ...withoutTags(found), isNamed: found.tags.includes(tag) }
    },
    assign: (target, options) => assignments.move({ ...target, tag }, options),
  }
}

function withoutTags({ id, address, machines }: AssignedAddress): ControlPlaneAddress {
  return { id, address, machines }
}
