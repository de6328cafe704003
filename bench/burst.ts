import type { Row } from './measure.ts'
import { bareReserve } from './bare-reserve.ts'
import { inFlight } from './in-flight.ts'
import { time } from './samples.ts'
import { type Admin, bound, createWithAddress, env, onStage, swept } from './stage.ts'

const count = 100
const clients = 10
/** What the product allows itself at one cloud. */
const callsInFlight = 4
const latencyMs = 250

/** Many Services at once: the cloud sets the pace, and we should add little to it. */
export function burst(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    await stage.serve({ env })
    await swept(admin)
    const { latency, quota, calls } = stage.cloud.door
    quota.set(10 * count)
    await createWithAddress(admin, 'warm')
    await bound(admin, 1)
    latency.set({ ms: latencyMs })
    const bareMs = await time(() => inFlight(callsInFlight, count, () => bareReserve(stage)))
    calls.clear()
    const { ms, inCreate } = await burstOf(admin)
    await bound(admin, count + 1)
    const beside = { what: 'the cloud alone, 4 calls in flight', samples: [bareMs] }
    return [
      { measure: 'burst of 100, last address', unit: 'ms', ours: [ms], beside, goal: { of: 'ours', atMost: 7000 } },
      {
        measure: 'burst of 100, address inside create',
        unit: 'Services',
        ours: [inCreate],
        goal: { of: 'ours', atLeast: count },
      },
      {
        measure: 'burst of 100, cloud calls until settled',
        unit: 'calls',
        ours: [calls.count()],
        beside: { what: 'one reserve a Service', samples: [count] },
        goal: { of: 'ours', atMost: count + 20 },
      },
    ]
  })
}

async function burstOf(admin: Admin): Promise<{ ms: number; inCreate: number }> {
  let inCreate = 0
  const ms = await time(() =>
    inFlight(clients, count, async (place) => {
      if (await createWithAddress(admin, `web-${place}`)) inCreate += 1
    }),
  )
  return { ms, inCreate }
}
