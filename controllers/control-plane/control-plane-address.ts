import { type AssignedAddress, type Assignments, leastWriteMs, longestWriteMs } from '../../clouds/ports/assignments.ts'
import type { MovableAddress } from '../moves/mover.ts'
import type { Balancers } from '../../clouds/ports/balancers.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'

/** The control-plane address: an address at the provider, and the machines that it routes to. */
export type ControlPlaneAddress = MovableAddress

/** A control-plane address, and whether our setting still names it. */
export type ReadAddress = ControlPlaneAddress & { isNamed: boolean }

/** The part of the provider's API that shows which machines users reach. */
export type AddressReader = {
  /** How people find it at the provider: `tag eip-tag`. */
  readonly name: string
  /** The advice for an operator if there is none, and it is not a reservation. */
  readonly missing?: string
  /** Every address that our setting names; there should be one. */
  list(signal: AbortSignal): Promise<ControlPlaneAddress[]>
  /** Reads a single address live; undefined if the provider answers that it does not exist. */
  read(id: string, signal: AbortSignal): Promise<ReadAddress | undefined>
}

/** The part of the provider's API that decides which machine users reach. */
export type AddressPort = AddressReader & {
  /** Makes it route to this machine and to no other. A repeated call continues where the last one stopped. */
  assign: Assignments['move']
}

/** An address with this tag, at a provider that assigns an address to one machine. */
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
    // No machine holds a balancer's address: its origins say which machines it sends to.
    return address === undefined ? undefined : { id, address, machines: [], isNamed: true }
  }
  return {
    name: `load balancer ${id}`,
    missing: `the project has no load balancer ${id} with an address. eip-admission creates none: create one, or correct the setting`,
    read,
    list: async (signal): Promise<ControlPlaneAddress[]> => [(await read(id, signal)) ?? []].flat(),
  }
}

const readTimeoutMs = 8_000

/** Reads from the provider. A read that takes too long is given up, so that it can be repeated. */
export function timedRead<T>(read: (ends: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const timeoutError = () => new Error(`no answer within ${readTimeoutMs} ms`)
  return withTimeLimit({ ms: readTimeoutMs, timeoutError, signal }, read)
}

/** A balancer's writes under a lease: each has a time limit, and none starts that could outlast the lease. */
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
