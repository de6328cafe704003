import type { CallOptions } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { KubeError } from '../../kube/errors.ts'
import type { LeaseOptions } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'
import { leases } from '../../kube/resource.ts'
import { apiServer } from '../fakes/api-server.ts'
import { type HeardCall, interposed } from '../fakes/interposed.ts'

/** The Lease of an election at an API server, which each contender reaches over a network of its own. */
export type StoredLease = {
  spec(): Lease['spec']
  /** Assigns the lease, as an operator or another program may. */
  assign(holderIdentity: string): void
  reads(): number
  writes(): number
  client(clock: Clock): LeaseOptions['client'] & Faults
}

type Faults = {
  /**
   * `down`: calls do not arrive. `deaf`: calls arrive, but their answers are lost. `hangs`: calls end with their time-out.
   * `slow`: calls arrive after three seconds.
   */
  fault: 'down' | 'deaf' | 'hangs' | 'slow' | undefined
}

/** An API server without a Lease. */
export function storedLease(): StoredLease {
  const api = apiServer()
  let reads = 0
  const stored = () => api.stored(leases)[0]

  function client(clock: Clock) {
    const faults: Faults = { fault: undefined }
    const before = async ({ verb, values }: HeardCall) => {
      const { fault } = faults
      if (fault === 'hangs') await clock.sleep((values.at(-1) as CallOptions).timeoutMs ?? Infinity)
      if (fault === 'hangs') throw callError('Timeout')
      if (fault === 'slow') await clock.sleep(3_000)
      if (fault === 'down') throw callError('Unreachable')
      if (verb === 'get') reads += 1
    }
    const after = () => {
      if (faults.fault === 'deaf') throw callError('Timeout')
    }
    return Object.assign(faults, interposed(api.client, { before, after }))
  }

  return {
    spec: () => stored()?.spec,
    assign(holderIdentity) {
      const lease = stored()
      if (lease) api.put(leases, { ...lease, spec: { ...lease.spec, holderIdentity } })
    },
    reads: () => reads,
    writes: () => api.writes.length,
    client,
  }
}

function callError(reason: string): KubeError {
  return new KubeError(`the call to the API server: ${reason}`, { status: 0, reason })
}
