import type { Row } from './measure.ts'
import { announced, installMetallb, joinNodes, metallbEnv, nodeNames } from './metallb-stage.ts'
import { onStage, createWithAddress, swept, until } from './stage.ts'
import { ipAddressPools } from '../announcers/metallb/resources.ts'
import { time } from './samples.ts'

const nodes = 50
const rounds = 5
const latencyMs = 250

/** The time until MetalLB has the pool of a new Service, with many nodes and a slow cloud. */
export function announce(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    await installMetallb(stage, admin)
    await joinNodes(stage, admin, nodeNames(nodes))
    await stage.serve({ env: metallbEnv })
    await swept(admin)
    await createWithAddress(admin, 'warm')
    await announced(admin, { addresses: 1, nodes })
    const { latency, calls } = stage.cloud.control
    latency.set({ ms: latencyMs })
    calls.clear()
    const samples: number[] = []
    for (let round = 1; round <= rounds; round++) {
      samples.push(
        await time(async () => {
          await createWithAddress(admin, `web-${round}`)
          const isThere = async () => (await admin.list(ipAddressPools)).items.length === round + 1
          await until('its pool exists', isThere, 10)
        }),
      )
    }
    const goal = { of: 'ours', atMost: 1000 } as const
    const beside = { what: 'one call to the provider', samples: samples.map(() => latencyMs) }
    return [
      { measure: `create to MetalLB's pool, ${nodes} nodes`, unit: 'ms', ours: samples, beside, goal },
      {
        measure: 'the same, cloud calls for each',
        unit: 'calls',
        ours: [calls.count() / rounds],
        goal: { of: 'ours', atMost: 2 },
      },
    ]
  })
}
