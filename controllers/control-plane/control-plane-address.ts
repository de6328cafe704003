import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import type { MovableAddress } from '../moves/mover.ts'

/** The control-plane address: an address of the cloud, and the machines that it routes to. */
export type ControlPlaneAddress = MovableAddress

/** A control-plane address, and whether our setting still names it. */
export type ReadAddress = ControlPlaneAddress & { isNamed: boolean }

/** The part of the cloud that shows which machines users reach. */
export type AddressReader = {
  /** How people find it at the cloud: `tag eip-tag`. */
  readonly name: string
  /** The fact that an operator should know if there is none, where it is no reservation. */
  readonly missing?: string
  /** Every address that our setting names; there should be one. */
  list(signal: AbortSignal): Promise<ControlPlaneAddress[]>
  /** A single address, read live; undefined proves that it is deleted. */
  read(id: string, signal: AbortSignal): Promise<ReadAddress | undefined>
}

/** The part of the cloud that decides which machine users reach. */
export type AddressPort = AddressReader & {
  /** Makes it route to this machine and to no other. A next call continues where one stopped. */
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
