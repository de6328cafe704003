// The API server allocates node ports after the mutating webhook, and tells no client how many are left. When their
// range is full, it refuses a Service whose address is already reserved.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage, routes } from './test-stage.ts'

const stored = ['first-0', 'first-1']
const maxUnbound = 8
/** A namespace may use a quarter of the limit. */
const unbound = 2 * (maxUnbound / 4)

const stage = await openStage({ apiServerFlags: [`--service-node-port-range=30000-${29_999 + stored.length}`] })
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: 'empty://', EIP_MAX_UNBOUND: String(maxUnbound) }
let product = await stage.startSwept({ env })

/** Tries to create a Service without a free node port; returns the refusal. */
const refusal = (name: string, namespace: string): Promise<string> =>
  stage.client.create(services, loadBalancer(name, { namespace }) as Service).then(
    () => 'created',
    (error: unknown) => String(error),
  )

const eventsAbout = async (namespace: string) =>
  (await stage.run('get', 'events', '-n', namespace, '-o', 'name')).trim()

test('two loops of creates that the API server refuses buy no more than the limit of unbound addresses', async () => {
  for (const namespace of ['one', 'two']) await stage.run('create', 'namespace', namespace)
  for (const name of stored) await stage.create(loadBalancer(name))
  for (const name of stored) await stage.settled(name)
  stage.cloud.control.calls.clear()
  for (let n = 0; n < 10; n += 1)
    for (const namespace of ['one', 'two']) assert.match(await refusal(`late-${n}`, namespace), 'range is full')
  assert.is(stage.calls(routes.reserve), unbound)
  assert.is(stage.reserved().length, stored.length + unbound)
  assert.is((await stage.client.list(elasticIPs)).items.length, stored.length + unbound)
  assert.is(await eventsAbout('one'), '')
  const { stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('late-10', { namespace: 'one' }))
  assert.match(stderr, '2 addresses in namespace one are waiting for their Services (a quarter of --max-unbound)')
  assert.match(stderr, 'Internal error occurred: failed to allocate a nodePort: range is full')
})

test('after the grace period the addresses are released, and a loop ends at three times its limit', async () => {
  await product.stop()
  const limits = { EIP_UNBOUND_GRACE: '1s', EIP_MAX_ADDRESSES_PER_NAMESPACE: '2' }
  product = await stage.startSwept({ env: { ...env, ...limits } })
  await eventually('only stored Services have addresses', () => stage.reserved().length === stored.length || undefined)
  for (const name of stored) assert.ok((await stage.service(name))?.spec.loadBalancerIP)
  stage.cloud.control.calls.clear()
  let attempts = 0
  await eventually('the namespace has had its orders of the hour', async () => {
    attempts += 1
    return (await refusal(`loop-${attempts}`, 'one')).includes('got 6 new addresses within an hour') || undefined
  })
  assert.is(stage.calls(routes.reserve), 6)
})

test.after(() => stage.close())

test.run()
