import { type Service, ingressOf } from '../kube/objects.ts'
import { leases, services } from '../kube/resource.ts'
import type { Product } from '../sandbox/product.ts'
import type { Stage } from '../sandbox/stage.ts'
import { bareReserve } from './bare-reserve.ts'
import { inFlight } from './in-flight.ts'
import type { Goal, Row } from './measure.ts'
import { time } from './samples.ts'
import { type Admin, bound, createWithAddress, env, loadBalancer, onStage, swept, until } from './stage.ts'

const reserve = 'POST /projects/{id}/ips'
const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }
const waiting = 60
const rounds = 5

/** The provider answers no reserve for a minute: other work does not wait, and a stopping leader hands over at once. */
export function hanging(): Promise<Row[]> {
  return onStage(async (stage, admin) => {
    const first = await stage.serve({ env })
    await swept(admin)
    const own: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      await createWithAddress(admin, `leaving-${round}`)
      own.push(await bareReserve(stage))
    }
    await bound(admin, rounds)
    const product = await withHangingReserves(stage, admin, first)
    const edited = await inTurn((round) => edit(admin, `waiting-${round}`))
    const shown = await inTurn((round) => showOwn(admin, `own-${round}`, own[round] ?? ''))
    const gone = await inTurn((round) => remove(admin, `leaving-${round}`))
    const leaseMs = await time(async () => {
      product.signal('SIGTERM')
      await until('the lease is free', async () => (await admin.get(leases, lease))?.spec?.holderIdentity === '', 10)
    })
    // Another signal would wait for the reserves.
    await product.stop('SIGKILL')
    return [
      { measure: `with ${waiting} reserves hanging, an edit of a Service that waits`, ...atMost(edited, 3_000) },
      { measure: 'the same, a Service shows a user-chosen address', ...atMost(shown, 3_000) },
      { measure: 'the same, a Service is deleted', ...atMost(gone, 5_000) },
      { measure: 'the same, SIGTERM until the lease is free', ...atMost([leaseMs], 1_500) },
    ]
  })
}

/** Creates Services without the product, which then starts to reserve for them. */
async function withHangingReserves(stage: Stage, admin: Admin, former: Product): Promise<Product> {
  const { calls, latency } = stage.cloud.control
  await former.stop()
  await inFlight(8, waiting, async (n) => void (await createWithAddress(admin, `waiting-${n}`)))
  latency.set({ on: reserve, ms: 60_000 })
  const product = await stage.serve({ env, flags: ['--cloud-timeout=60s'] })
  await until('reserves hang', async () => calls.all(reserve).some(({ status }) => status === undefined))
  return product
}

async function inTurn(work: (round: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1) samples.push(await time(() => work(round)))
  return samples
}

function atMost(ours: number[], ms: number): Pick<Row, 'unit' | 'ours'> & { goal: Goal } {
  return { unit: 'ms', ours, goal: { of: 'ours', atMost: ms } }
}

const at = (name: string) => ({ namespace: 'default', name })

async function edit(admin: Admin, name: string): Promise<void> {
  await admin.patch(services, { ...at(name), patch: { merge: { metadata: { labels: { team: 'a' } } } } })
}

async function showOwn(admin: Admin, name: string, address: string): Promise<void> {
  const service: Service = loadBalancer(name)
  await admin.create(services, { ...service, spec: { ...service.spec, loadBalancerIP: address } })
  const isShown = (found: Service | undefined) =>
    found !== undefined && ingressOf(found).some(({ ip }) => ip === address)
  await until(`${name} shows ${address}`, async () => isShown(await admin.get(services, at(name))), 10)
}

async function remove(admin: Admin, name: string): Promise<void> {
  await admin.remove(services, at(name))
  await until(`${name} no longer exists`, async () => (await admin.get(services, at(name))) === undefined, 10)
}
