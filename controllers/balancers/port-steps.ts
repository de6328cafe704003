import type { Balancers } from '../../clouds/ports/balancers.ts'
import { mapAll } from '../../lib/map-all.ts'
import type { BalancerNames } from './balancer-names.ts'
import type { PoolUpdate, PortChanges } from './port-changes.ts'

/** How many ports, and origins of a pool, are changed at the same time. The client limits the calls in flight. */
const concurrency = 4

const each = <T>(items: readonly T[], change: (item: T) => Promise<void>) => mapAll(items, change, concurrency)

type PortTarget = { balancer: string; changes: PortChanges; names: BalancerNames }

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
  await each(changes.removePorts, async ({ id, pools }) => {
    for (const pool of pools) await balancers.removePool(pool, signal)
    await balancers.removePort(id, signal)
  })
  await each(changes.removePools, (id) => balancers.removePool(id, signal))
  await each(changes.updatePools, (update) => updatePool(balancers, update, signal))
  await each(changes.addPorts, async ({ number, pool }) => {
    const name = names.pool(number)
    const id = pool.id ?? (await balancers.addPool(name, signal))
    await updatePool(balancers, { remove: [], ...pool, id }, signal)
    await balancers.addPort(balancer, { name, number, pool: id }, signal)
  })
}

/** New origins are added before old ones are removed, so that the pool is never empty. */
async function updatePool(balancers: Balancers, { id, add, remove }: PoolUpdate, signal: AbortSignal): Promise<void> {
  await each(add, (origin) => balancers.addOrigin(id, origin, signal))
  await each(remove, (origin) => balancers.removeOrigin(origin, signal))
}
