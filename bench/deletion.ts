import { services } from '../kube/resource.ts'
import type { Product } from '../sandbox/product.ts'
import type { Stage } from '../sandbox/stage.ts'
import { apiRequests, requestsOfEach } from './api-requests.ts'
import { inFlight } from './in-flight.ts'
import type { Row } from './measure.ts'
import { cpuMs } from './proc.ts'
import { time } from './samples.ts'
import {
  type Admin,
  bound,
  createWithAddress,
  env,
  loadBalancer,
  onStage,
  swept,
  until,
  whenAddressed,
  withoutNodePort,
} from './stage.ts'

const count = 1000
const clients = 16
const rounds = 3
const latencyMs = 50

/** Restarts with many addresses held, and the deletion of all their Services, with no announcing software. */
export function deletion(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const { quota, latency } = stage.cloud.control
    quota.set(2 * count)
    const first = await stage.serve({ env })
    await swept(admin)
    const none = await restarts(stage, admin, first)
    await inFlight(clients, count, (place) => createWithAddress(admin, name(place), withoutNodePort))
    await bound(admin, count)
    const many = await restarts(stage, admin, none.product)
    latency.set({ ms: latencyMs })
    const deleted = await deleteAll(stage, admin, many.product)
    return [
      {
        measure: `restart until a waiting Service has its address, ${count} held`,
        unit: 'ms',
        ours: many.ms,
        beside: { what: 'none held', samples: none.ms },
        goal: { of: 'ours', atMost: 1000 },
      },
      {
        measure: 'the same, CPU of the process',
        unit: 'ms',
        ours: many.cpu,
        beside: { what: 'none held', samples: none.cpu },
      },
      {
        measure: `${count} Services deleted, until no address is reserved`,
        unit: 'ms',
        ours: [deleted.ms],
        beside: { what: 'the deletes alone, 4 in flight', samples: [(count * latencyMs) / 4] },
        goal: { of: 'ours', atMost: 45_000 },
      },
      ...deleted.perService,
    ]
  })
}

const name = (place: number) => `web-${place}`

/** Restarts the product a few times while a Service waits, and returns the last product. */
async function restarts(stage: Stage, admin: Admin, running: Product) {
  let product = running
  const seen: { ms: number[]; cpu: number[] } = { ms: [], cpu: [] }
  for (let round = 0; round < rounds; round += 1) {
    await product.stop()
    const waiting = await admin.create(services, loadBalancer('waiting'))
    const startedMs = performance.now()
    const [next, addressMs] = await Promise.all([stage.serve({ env }), whenAddressed(admin, waiting)])
    seen.ms.push(addressMs - startedMs)
    seen.cpu.push(cpuMs(next.pid))
    const at = { namespace: 'default', name: 'waiting' }
    await admin.remove(services, at)
    await until('the Service no longer exists', async () => (await admin.get(services, at)) === undefined)
    product = next
  }
  return { ...seen, product }
}

async function deleteAll(stage: Stage, admin: Admin, { pid }: Product): Promise<{ ms: number; perService: Row[] }> {
  const { calls, reservations } = stage.cloud.control
  calls.clear()
  const [before, cpuBefore] = [await apiRequests(stage), cpuMs(pid)]
  const ms = await time(async () => {
    await inFlight(clients, count, (place) => admin.remove(services, { namespace: 'default', name: name(place) }))
    await until('no address is reserved', async () => reservations.all().length === 0)
  })
  const cpu = cpuMs(pid) - cpuBefore
  await until('no Service is left', async () => (await admin.list(services)).items.length <= 1)
  const after = await apiRequests(stage)
  return {
    ms,
    perService: [
      { measure: 'the same for each Service, calls of the cloud', unit: 'calls', ours: [calls.count() / count] },
      ...requestsOfEach(count, { before, after }),
      { measure: 'CPU of the process', unit: 'ms', ours: [cpu / count] },
    ],
  }
}
