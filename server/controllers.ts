import { addresses } from './controllers/addresses.ts'
import { announcements } from './controllers/announcing.ts'
import type { Controller } from './controllers/controller.ts'
import { manifests } from './controllers/manifest.ts'
import { lifecycles } from './controllers/node-lifecycle.ts'
import { nodes } from './controllers/nodes.ts'
import { peerings } from './controllers/peering.ts'
import { prefixLimits } from './controllers/prefix-limit.ts'
import { sweeps } from './controllers/sweep.ts'
import { stock } from './controllers/stock.ts'
import { warmPools } from './controllers/warm-pool.ts'
import type { World } from './world.ts'

/** Every controller of the process; they act only while they run. */
export function makeControllers(world: World): Controller {
  const announcing = announcements(world)
  const all = [
    addresses(world, announcing),
    sweeps(world),
    stock(world),
    warmPools(world),
    nodes(world),
    lifecycles(world),
    // Before the announcing controller, which waits for what is begun here anew.
    peerings(world),
    prefixLimits(world),
    manifests(world),
    announcing,
  ]
  return {
    async run(signal) {
      await Promise.all(all.map((one) => one.run(signal)))
    },
  }
}
