// One Lease as the API server keeps it: compare-and-swap on the resource version, and faults that a test asks for.
import type { CallOptions } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { KubeError } from '../../kube/errors.ts'
import type { LeaseOptions } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'

export type LeaseStore = {
  stored: Lease | undefined
  writes: number
  reads: number
  /** A client of the store, with faults of its own. */
  client(clock: Clock): LeaseOptions['client'] & Faults
}

type Faults = {
  /**
   * `down`: no call arrives. `deaf`: calls arrive and their answers are lost. `hangs`: calls end with their time-out.
   * `slow`: calls arrive after three seconds.
   */
  fault: 'down' | 'deaf' | 'hangs' | 'slow' | undefined
}

export function leaseStore(): LeaseStore {
  const store: LeaseStore = { stored: undefined, writes: 0, reads: 0, client }

  function write(lease: Lease): Lease {
    const { resourceVersion } = lease.metadata
    if (store.stored && resourceVersion === undefined) throw refused(409, 'AlreadyExists')
    if (resourceVersion !== store.stored?.metadata.resourceVersion) throw refused(409, 'Conflict')
    store.writes += 1
    store.stored = structuredClone({ ...lease, metadata: { ...lease.metadata, resourceVersion: String(store.writes) } })
    return structuredClone(store.stored)
  }

  function read(): Lease | undefined {
    store.reads += 1
    return structuredClone(store.stored)
  }

  function client(clock: Clock) {
    const faults: Faults = { fault: undefined }
    const call = async <T>(work: () => T, options: CallOptions): Promise<T> => {
      const { fault } = faults
      if (fault === 'hangs') await clock.sleep(options.timeoutMs ?? Infinity)
      if (fault === 'hangs') throw refused(0, 'Timeout')
      if (fault === 'slow') await clock.sleep(3_000)
      if (fault === 'down') throw refused(0, 'Unreachable')
      const result = work()
      await Promise.resolve()
      if (fault === 'deaf') throw refused(0, 'Timeout')
      return result
    }
    return Object.assign(faults, {
      get: (_: unknown, __: unknown, options: CallOptions) => call(read, options),
      create: (_: unknown, lease: Lease, options: CallOptions) => call(() => write(lease), options),
      replace: (_: unknown, lease: Lease, options: CallOptions) => call(() => write(lease), options),
    } as unknown as LeaseOptions['client'])
  }
  return store
}

function refused(status: number, reason: string): KubeError {
  return new KubeError(`the store says ${reason}`, { status, reason })
}
