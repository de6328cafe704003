// A leader that reaches the API server but not the cloud, beside a replica that reaches both.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../kube/resource.ts'
import { dialects } from '../../sandbox/dialects.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { openStage } from './test-stage.ts'

const account = await dialects.hetzner.open()
const stage = await openStage({ dialect: 'hetzner', account })
const { startNode, say } = simulatedNodes(stage)
const cloudUrl = new URL(stage.cloud.url)
const proxy = await openTcpProxy(Number(cloudUrl.port))
// The machines do not exist, so no probe may be sent to their addresses.
const env = { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' }
const blind = await stage.startSwept({ env, flags: [`--base-url=http://127.0.0.1:${proxy.port}${cloudUrl.pathname}`] })
const other = await stage.serve({ env, flags: ['--only=controllers', '--v=5'] })
const names = ['one', 'two', 'three']

const leads = async (product: Product) => /^eip_admission_leader 1$/m.test((await product.health('/metrics')).text)
const routes = async () => {
  const all = await Promise.all(names.map((name) => stage.service(name)))
  return all.map((service) => stage.cloud.control.route(shownIn(service) ?? ''))
}
const lease = () => stage.client.get(leases, { namespace: 'kube-system', name: 'cloud-controller-manager' })

test('addresses of a dead node move, for the leader gives its lease to the replica that reaches the provider', async () => {
  const [a, b] = [await startNode('a'), await startNode('b')]
  await say('b', 'Unknown')
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  await eventually('all lead to a', async () => (await routes()).every((at) => at === a.id) || undefined)
  assert.equal([await leads(blind), await leads(other)], [true, false])
  proxy.pause()
  await say('b', 'True')
  await say('a', 'Unknown')
  await eventually('all lead to b', async (observe) => observe(await routes()).every((at) => at === b.id) || undefined)
  assert.equal([await leads(blind), await leads(other)], [false, true])
  await eventually('nobody asks any more', async (observe) => {
    const { annotations = {} } = observe(await lease())?.metadata ?? {}
    return Object.keys(annotations).length === 0 || undefined
  })
})

test('it leads again when the other replica stops, with the provider or without', async () => {
  await other.stop()
  await eventually('the first leads', async () => (await leads(blind)) || undefined)
  proxy.resume()
  await stage.create(loadBalancer('later'))
  await eventually('a new Service has its address', async () => shownIn(await stage.service('later')))
})

test.after(async () => {
  await stage.close({ close: () => proxy.close() })
  await account.cloud.close()
})

test.run()
