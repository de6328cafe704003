// Managed balancers of a predecessor are adopted, two replicas create only one, and a change of the setting neither
// loses nor leaves any.
import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { namespaces } from '../../kube/resource.ts'
import { equinixMetalBalancers } from '../../clouds/equinix-metal/balancers/client.ts'
import { Secret } from '../../lib/secret.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { runProduct } from '../../sandbox/product.ts'
import { balanced, balancerFinalizer, balancerId, balancerMetro, balancerRoutes, balancersOf } from './balancer-view.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { roundRobin } from './round-robin.ts'
import { type Device, ipOf, simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const { control, url } = stage.cloud
const { balancers, calls, faults } = control
const { signal } = new AbortController()
const [first = 0, second = 0] = await freePorts(2)
const both = await roundRobin([first, second])
const at = [`--kubeconfig=${stage.controlPlane.kubeconfig}`, `--webhook-url=https://127.0.0.1:${both.port}`]
await runProduct(['install', ...at])
// With these times, the other replica takes over soon.
const shortLease = ['--leader-elect-lease-duration=4s', '--leader-elect-renew-deadline=3s']
const emlb = (port: number, setting = 'emlb:///da') => ({
  env: { METAL_LOAD_BALANCER: setting, METAL_METRO_NAME: 'da' },
  flags: [`--webhook-secure-port=${port}`, '--leader-elect-retry-period=500ms', '--cloud-timeout=2s', ...shortLease],
})
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const vendor = equinixMetalBalancers({
  apiKey: new Secret(stage.token),
  projectId: stage.project,
  userAgent: 'predecessor',
  baseUrl: `${url}/lb`,
  tokensUrl: `${url}/iam`,
})

const clusterUid = async () => (await stage.client.get(namespaces, { name: 'kube-system' }))?.metadata.uid ?? ''

/** Creates a Service and its balancer as the predecessor did: long names, an elastic address among the origins. */
async function predecessor(name: string, spec = {}): Promise<string> {
  const hash = createHash('sha256').update(`default/${name}`).digest('base64')
  const former = `usage=cloud-provider-equinix-metal-auto:service=${hash}:cluster=${await clusterUid()}`
  assert.is(former.length, 137)
  balancers.set({ maxName: 300 })
  const id = await vendor.create({ name: former, location: 'ny' }, signal)
  const pool = await vendor.addPool(`${former}-pool-80`, signal)
  await vendor.addOrigin(pool, { name: 'origin-0', address: '198.51.100.250', port: 30_080 }, signal)
  await vendor.addPort(id, { name: `${former}-port-80`, number: 80, pool }, signal)
  balancers.set({ maxName: 64 })
  const annotations = { [balancerId]: id, [balancerMetro]: 'ny' }
  const manifest = loadBalancer(name, { annotations, spec }) as { metadata: object }
  // No webhook is served yet, so the failure policy ignores ours.
  await stage.create({ ...manifest, metadata: { ...manifest.metadata, finalizers: [upstream] } })
  return id
}

const adopted = await predecessor('adopted')
const leaving = await predecessor('leaving')
await stage.run('delete', 'service', 'leaving', '--wait=false')
let [leader, other] = [await stage.start(emlb(first)), await stage.start(emlb(second))]
const nodes = simulatedNodes(stage)
const addresses = [ipOf(await nodes.startNode('worker-1'), 4, 'public')]
const inNewYork = control.devices.add({ hostname: 'worker-ny', metro: 'ny' }) as unknown as Device
await nodes.register('worker-ny', { nodeIp: ipOf(inNewYork, 4, 'private') })
await nodes.settled('worker-ny')
await nodes.say('worker-ny', 'True')

test('the balancer of a predecessor is adopted, with its metro, and the nodes there become its origins', async () => {
  const { id } = await balanced(stage, 'adopted', [ipOf(inNewYork, 4, 'public')])
  assert.is(id, adopted)
  const { metadata } = (await stage.service('adopted')) ?? {}
  assert.equal(metadata?.annotations?.[balancerMetro], 'ny')
  assert.equal(metadata?.finalizers?.toSorted(), [balancerFinalizer, upstream])
  assert.is(calls.all(balancerRoutes.create).length, 2)
})

test('a Service that was deleted while nobody served is deleted with its balancer', async () => {
  await stage.gone('leaving')
  assert.not(balancersOf(stage).some(({ id }) => id === leaving))
})

test('an adopted balancer goes with its Service, and its pools of long names too', async () => {
  await stage.run('delete', 'service', 'adopted', '--wait=false')
  await stage.gone('adopted')
  assert.equal([balancersOf(stage), balancers.pools()], [[], []])
})

test('Services that are created at the same moment on two replicas have a balancer each', async () => {
  calls.clear()
  const names = ['one', 'two', 'three']
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  const ids = await Promise.all(names.map(async (name) => (await balanced(stage, name, addresses)).id))
  assert.is(new Set(ids).size, 3)
  assert.is(stage.calls(balancerRoutes.create), 3)
  await Promise.all(names.map((name) => stage.run('delete', 'service', name, '--wait=false')))
  for (const name of names) await stage.gone(name)
  assert.equal([balancersOf(stage), balancers.pools()], [[], []])
})

test('the leader is killed while the provider creates a balancer; the other replica finds it and continues', async () => {
  calls.clear()
  faults.add({ on: balancerRoutes.create, answer: 'hang', done: true, times: 1 })
  await stage.create(loadBalancer('taken-over'))
  await eventually('the balancer is created', () => balancersOf(stage).length === 1 || undefined)
  leader.signal('SIGKILL')
  await balanced(stage, 'taken-over', addresses)
  assert.equal([stage.calls(balancerRoutes.create), balancersOf(stage).length], [1, 1])
  leader = await stage.start(emlb(first))
})

test('a leader that was stopped for longer than its lease doubles nothing when it continues', async () => {
  // The other replica leads now.
  control.latency.set({ on: balancerRoutes.create, ms: 3_000 })
  calls.clear()
  await stage.create(loadBalancer('frozen'))
  await eventually('the request is sent', () => calls.count(balancerRoutes.create) > 0 || undefined)
  other.signal('SIGSTOP')
  control.latency.clear()
  await balanced(stage, 'frozen', addresses)
  other.signal('SIGCONT')
  await new Promise((done) => setTimeout(done, 3_000))
  await balanced(stage, 'frozen', addresses)
  assert.is(balancersOf(stage).filter(({ name }) => name.startsWith('default.frozen-')).length, 1)
  await stage.run('delete', 'service', 'frozen', '--wait=false')
  await stage.gone('frozen')
})

test('another setting deletes the balancers of the Services, which get addresses; and back', async () => {
  await Promise.all([leader.stop(), other.stop()])
  leader = await stage.startSwept(emlb(first, 'empty://'))
  const address = await stage.settled('taken-over')
  await eventually('the balancer is deleted', () => balancersOf(stage).length === 0 || undefined)
  const service = await eventually('its finalizer no longer exists', async (observe) => {
    const seen = observe(await stage.service('taken-over'))
    return seen?.metadata.finalizers?.includes(balancerFinalizer) ? undefined : seen
  })
  assert.is(service.metadata.annotations?.[balancerId], undefined)
  assert.is(shownIn(await stage.service('taken-over')), address)
  assert.equal(balancers.pools(), [])

  await leader.stop()
  leader = await stage.start(emlb(first))
  const { ips } = await balanced(stage, 'taken-over', addresses)
  await eventually('the address is released', () => stage.reserved().length === 0 || undefined)
  const back = await eventually('the address and its finalizer no longer exist from the Service', async (observe) => {
    const seen = observe(await stage.service('taken-over'))
    const hasNone = seen?.spec.loadBalancerIP === undefined && seen?.metadata.finalizers?.join() === balancerFinalizer
    return hasNone ? seen : undefined
  })
  assert.is(shownIn(back), ips[0])
})

test('with load balancing off a Service keeps its balancer; deleted, it takes it along', async () => {
  await leader.stop()
  calls.clear()
  leader = await stage.start(emlb(first, 'none'))
  await eventually('the balancer is looked at', () => calls.count(balancerRoutes.list) > 0 || undefined)
  assert.is(balancersOf(stage).length, 1)
  await stage.run('delete', 'service', 'taken-over', '--wait=false')
  await stage.gone('taken-over')
  assert.equal([balancersOf(stage), balancers.pools()], [[], []])
})

test.after(() => stage.close(both))

test.run()
