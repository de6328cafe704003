// The cloud takes very long for reserves. Other work must not wait, and a stopping leader hands over at once.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { leases, services } from '../../kube/resource.ts'
import { mapAll } from '../../lib/map-all.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { shownIn } from './stored.ts'
import { openStage, routes } from './test-stage.ts'

const stage = await openStage()
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://' }
const { latency, calls } = stage.cloud.control
let product = await stage.startSwept({ env })

/** Creates a Service without kubectl, which is slow to start. */
async function create(name: string, spec: Partial<Service['spec']> = {}): Promise<void> {
  const manifest = loadBalancer(name, { namespace: 'default', spec }) as Service
  await stage.client.create(services, manifest)
}

/** Whether the cloud has answered none of the reserves. The bench measures the product's speed meanwhile. */
const reservesHang = () => calls.all(routes.reserve).every(({ status }) => status === undefined)

const holder = async () =>
  (await stage.client.get(leases, { namespace: 'kube-system', name: 'cloud-controller-manager' }))?.spec?.holderIdentity

test('a leader that stops during reserves releases the lease at once, and what it bought reaches the records', async () => {
  await product.stop()
  await create('late')
  latency.set({ on: routes.reserve, ms: 12_000 })
  calls.clear()
  product = await stage.start({ env })
  await eventually('a reserve hangs', () => stage.calls(routes.reserve) > 0 || undefined)
  const stopped = product.stop('SIGTERM', 60_000)
  await eventually('the lease is free', async () => (await holder()) === '' || undefined)
  assert.ok(reservesHang(), 'it waited for the reserve')
  assert.is((await stage.record('late'))?.status?.address, undefined)
  await stopped
  const { address } = (await stage.record('late'))?.status ?? {}
  assert.ok(address, 'the reservation has reached its record')

  latency.clear()
  product = await stage.startSwept({ env })
  assert.is(await stage.settled('late'), address)
  assert.is(stage.calls(routes.reserve), 1)
})

test('with 60 reserves hanging, a Service with its own address and a deletion take no longer', async () => {
  await create('leaving')
  await stage.settled('leaving')
  const own = await stage.order()
  await product.stop()
  const waiting = Array.from({ length: 60 }, (_, n) => `waiting-${String(n)}`)
  await mapAll(waiting, (name) => create(name), 8)
  latency.set({ on: routes.reserve, ms: 60_000 })
  calls.clear()
  product = await stage.start({ env, flags: ['--cloud-timeout=60s'] })
  await eventually('reserves hang', () => stage.calls(routes.reserve) >= 4 || undefined)
  await eventually('it leads', holder)

  await create('own', { loadBalancerIP: own.address })
  await eventually(
    'the own address is shown',
    async () => shownIn(await stage.service('own')) === own.address || undefined,
  )
  await stage.client.remove(services, { namespace: 'default', name: 'leaving' })
  await stage.gone('leaving')
  assert.ok(reservesHang(), 'they waited for a reserve')
  latency.clear()
  // Another signal would wait for the reserves.
  await product.stop('SIGKILL')
})

test.after(() => stage.close())

test.run()
