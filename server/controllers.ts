import { addresses } from './controllers/addresses.ts'
import type { Controller } from './controllers/controller.ts'
import { sweeps } from './controllers/sweep.ts'
import type { World } from './world.ts'

/** Every controller of the process; they act only while they run. */
export function makeControllers(world: World): Controller {
  const all = [addresses(world), sweeps(world)]
  return {
    async run(signal) {
      await Promise.all(all.map((one) => one.run(signal)))
    },
  }
}
