import { services } from '../kube/resource.ts'
import { addressConditionOf } from '../ledger/record/address-use.ts'
import { apiRequests, requestsOfEach } from './api-requests.ts'
import type { Goal, Row } from './measure.ts'
import { bareReserve } from './bare-reserve.ts'
import { inFlight } from './in-flight.ts'
import { cpuMs } from './proc.ts'
import { time } from './samples.ts'
import { type Admin, bound, createWithAddress, env, onStage, swept, until } from './stage.ts'

/** The product's maximum of reserves in flight. */
const callsInFlight = 4

type Size = {
  count: number
  clients: number
  latencyMs: number
  /** The goal for the last answer. */
  goal?: Goal
}

const sizes: Size[] = [
  { count: 100, clients: 10, latencyMs: 250, goal: { of: 'ours', atMost: 7000 } },
  // This many clients create Services as fast as the API server accepts them.
  { count: 500, clients: 32, latencyMs: 50 },
]

/** Many Services at once: the provider sets the pace, and the product should add little. */
export async function burst(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of sizes) rows.push(...(await burstOf(size)))
  return rows
}

function burstOf({ count, clients, latencyMs, goal }: Size): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const { pid } = await stage.serve({ env })
    await swept(admin)
    const { latency, quota, calls } = stage.cloud.control
    quota.set(10 * count)
    await createWithAddress(admin, 'warm')
    await bound(admin, 1)
    latency.set({ ms: latencyMs })
    const bareMs = await time(() => inFlight(callsInFlight, count, () => bareReserve(stage)))
    calls.clear()
    const [before, cpuBefore] = [await apiRequests(stage), cpuMs(pid)]
    const { ms, inCreate } = await createAll(admin, { count, clients })
    const settledMs = ms + (await time(() => bound(admin, count + 1)))
    await until('each Service shows its condition', async () => {
      const { items } = await admin.list(services)
      return items.filter((service) => addressConditionOf(service)?.status === 'True').length === count + 1
    })
    const [after, cpu] = [await apiRequests(stage), cpuMs(pid) - cpuBefore]
    const name = `burst of ${count}`
    const beside = { what: 'the provider alone, 4 calls in flight', samples: [bareMs] }
    return [
      { measure: `${name}, last answer`, unit: 'ms', ours: [ms], beside, ...(goal && { goal }) },
      { measure: `${name}, until all are settled`, unit: 'ms', ours: [settledMs], beside },
      {
        measure: `${name}, address inside create`,
        unit: 'Services',
        ours: [inCreate],
        goal: { of: 'ours', atLeast: count },
      },
      {
        measure: `${name}, cloud calls until settled`,
        unit: 'calls',
        ours: [calls.count()],
        beside: { what: 'one reserve a Service', samples: [count] },
        goal: { of: 'ours', atMost: count + 20 },
      },
      ...requestsOfEach(count, { before, after }),
      { measure: 'CPU of the process for each Service', unit: 'ms', ours: [cpu / count] },
    ]
  })
}

async function createAll(
  admin: Admin,
  { count, clients }: Pick<Size, 'count' | 'clients'>,
): Promise<{ ms: number; inCreate: number }> {
  let inCreate = 0
  const ms = await time(() =>
    inFlight(clients, count, async (place) => {
      if (await createWithAddress(admin, `web-${place}`)) inCreate += 1
    }),
  )
  return { ms, inCreate }
}
