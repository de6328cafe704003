import { addresses } from './controllers/addresses.ts'
import { announcements } from './controllers/announcing.ts'
import type { Controller } from './controllers/controller.ts'
import { manifests } from './controllers/manifest.ts'
import { lifecycles } from './controllers/node-lifecycle.ts'
import { nodes } from './controllers/nodes.ts'
import { peerings } from './controllers/peering.ts'
import { prefixLimits } from './controllers/prefix-limit.ts'
import { sweeps } from './controllers/sweep.ts'
import { stock } from './controllers/available.ts'
import { warmPools } from './controllers/warm-pool.ts'
import type { Dependencies } from './dependencies.ts'

/** Every controller of the process; they act only while they run. */
export function makeControllers(deps: Dependencies): Controller {
  const announcing = announcements(deps)
  const all = [
    addresses(deps, announcing),
    sweeps(deps),
    stock(deps),
    warmPools(deps),
    nodes(deps),
    lifecycles(deps),
    // Before the announcing controller, which waits for what is begun here anew.
    peerings(deps),
    prefixLimits(deps),
    manifests(deps),
    announcing,
  ]
  return {
    async run(signal) {
      await Promise.all(all.map((one) => one.run(signal)))
    },
  }
}
