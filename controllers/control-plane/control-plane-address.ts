import { type AssignedAddress, type Assignments, leastWriteMs, longestWriteMs } from '../../clouds/ports/assignments.ts'
import type { MovableAddress } from '../moves/mover.ts'
import type { Balancers } from '../../clouds/ports/balancers.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'

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

/** The addresses of a balancer that an operator created, as the control-plane address. */
export function balancerAddress(balancers: Pick<Balancers, 'get'>, id: string): AddressReader {
  const read: AddressReader['read'] = async (_id, signal) => {
    const balancer = await balancers.get(id, signal)
    const [address] = balancer?.addresses ?? []
    // Machines hold an address; a balancer sends to several, and its origins say which.
    return address === undefined ? undefined : { id, address, machines: [], isNamed: true }
  }
  return {
    name: `load balancer ${id}`,
    missing: `the project has no load balancer ${id} with an address. eip-admission creates none: create one, or correct the setting`,
    read,
    list: async (signal): Promise<ControlPlaneAddress[]> => [(await read(id, signal)) ?? []].flat(),
  }
}

/** A balancer's writes under a lease: none begins that could end after the lease, and each has a time limit. */
export function leasedBalancers(balancers: Balancers, writeMs: () => number): Balancers {
  const write = <T>(signal: AbortSignal, work: (ends: AbortSignal) => Promise<T>): Promise<T> => {
    const ms = Math.min(writeMs(), longestWriteMs)
    if (ms < leastWriteMs) throw new Error('the lease ends too soon for another write; the next leader continues')
    const timeoutError = () => new Error(`the provider did not answer a write within ${Math.floor(ms)} ms`)
    return withTimeLimit({ ms, timeoutError, signal }, work)
  }
  return {
    ...balancers,
    addPort: async (balancer, port, signal) => write(signal, (ends) => balancers.addPort(balancer, port, ends)),
    removePort: async (id, signal) => write(signal, (ends) => balancers.removePort(id, ends)),
    addPool: async (name, signal) => write(signal, (ends) => balancers.addPool(name, ends)),
    removePool: async (id, signal) => write(signal, (ends) => balancers.removePool(id, ends)),
    addOrigin: async (pool, origin, signal) => write(signal, (ends) => balancers.addOrigin(pool, origin, ends)),
    removeOrigin: async (id, signal) => write(signal, (ends) => balancers.removeOrigin(id, ends)),
  }
}
