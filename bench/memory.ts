import { setTimeout as sleep } from 'node:timers/promises'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { memoryMiB } from './proc.ts'
import { bound, createWithAddress, env, onStage, swept } from './stage.ts'

const count = 1000
const clients = 8
/** After so long without work the heap has shrunk as far as it will by itself. */
const restMs = 10_000

/** What the product holds in memory with many settled Services. */
export function memory(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const { pid } = await stage.serve({ env })
    await swept(admin)
    stage.cloud.door.quota.set(2 * count)
    const empty = memoryMiB(pid)
    await inFlight(clients, count, async (place) => void (await createWithAddress(admin, `web-${place}`)))
    await bound(admin, count)
    await sleep(restMs)
    const full = memoryMiB(pid)
    const beside = (samples: number[]) => ({ what: 'without a Service', samples })
    return [
      {
        measure: 'memory with 1,000 Services, resident',
        unit: 'MiB',
        ours: [full.resident],
        beside: beside([empty.resident]),
        goal: { of: 'ours', atMost: 90 },
      },
      { measure: 'memory with 1,000 Services, own', unit: 'MiB', ours: [full.own], beside: beside([empty.own]) },
    ]
  })
}
