import type { Balancers, NewOrigin } from '../../clouds/ports/balancers.ts'
import { mapAll } from '../../lib/map-all.ts'
import type { BalancerNames } from './balancer-names.ts'
import type { PoolUpdate, PortChanges } from './port-changes.ts'

/** How many ports, and origins of a pool, are changed at the same time. The client limits the calls in flight. */
const concurrency = 4

export type PortTarget = { balancer: string; changes: PortChanges; names: BalancerNames }

/**
 * Executes the changes of a balancer's ports. A pool is deleted before its port, because only the port shows whose the
 * pool is. A pool is created with all its origins before its port, so that no port accepts connections that it cannot
 * forward.
 */
export async function changePorts(
  balancers: Balancers,
  { balancer, changes, names }: PortTarget,
  signal: AbortSignal,
): Promise<void> {
  const { removePorts, removePools, updatePools, addPorts } = changes
  await mapAll(
    removePorts,
    async ({ id, pools }) => {
      for (const pool of pools) await balancers.removePool(pool, signal)
      await balancers.removePort(id, signal)
    },
    concurrency,
  )
  await mapAll(removePools, (id) => balancers.removePool(id, signal), concurrency)
  await mapAll(updatePools, (update) => updatePool(balancers, update, signal), concurrency)
  await mapAll(
    addPorts,
    async ({ number, pool }) => {
      const name = names.pool(number)
      const id = pool.id ?? (await balancers.addPool(name, signal))
      if (pool.id === undefined) await addOrigins(balancers, { id, add: pool.add }, signal)
      else await updatePool(balancers, pool, signal)
      await balancers.addPort(balancer, { name, number, pool: id }, signal)
    },
    concurrency,
  )
}

/** New origins are added before old ones are removed, so that the pool is never empty. */
async function updatePool(balancers: Balancers, { id, add, remove }: PoolUpdate, signal: AbortSignal): Promise<void> {
  await addOrigins(balancers, { id, add }, signal)
  await mapAll(remove, (origin) => balancers.removeOrigin(origin, signal), concurrency)
}

async function addOrigins(
  balancers: Balancers,
  { id, add }: { id: string; add: NewOrigin[] },
  signal: AbortSignal,
): Promise<void> {
  await mapAll(add, (origin) => balancers.addOrigin(id, origin, signal), concurrency)
}
