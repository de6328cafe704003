import type { Balancers } from '../../clouds/ports/balancers.ts'
import { leastWriteMs, longestWriteMs } from '../../clouds/ports/assignments.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import type { ControlPlaneAddress, AddressReader } from './control-plane-address.ts'

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
