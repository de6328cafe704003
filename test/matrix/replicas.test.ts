import { truncateSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../kube/resource.ts'
import { freePorts } from '../../sandbox/ports.ts'
import { runProduct } from '../../sandbox/product.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { roundRobin } from '../whole/round-robin.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage({ ownControlPlane: true })
const [first = 0, second = 0] = await freePorts(2)
const control = await roundRobin([first, second])
const installed = [`--kubeconfig=${stage.controlPlane.kubeconfig}`, `--webhook-url=https://127.0.0.1:${control.port}`]
await runProduct(['install', ...installed])
const replica = (port: number) => ({
  env: dialect.here,
  flags: [`--webhook-secure-port=${port}`, '--leader-elect-retry-period=500ms'],
})
await dialect.callFrom?.(stage.cloud.controlUrl, 2)
let leader = await stage.startSwept(replica(first))
let other = await stage.start(replica(second))
const { calls, latency } = stage.cloud.control

const holder = async () => {
  const lease = await stage.client.get(leases, { namespace: 'kube-system', name: 'cloud-controller-manager' })
  return lease?.spec?.holderIdentity
}
const leads = async (product: typeof leader) =>
  /^eip_admission_leader 1$/m.test((await product.health('/metrics')).text)

/** Twenty clients create one name at the same moment. */
async function stampede(name: string): Promise<void> {
  calls.clear()
  const typed = Array.from({ length: 20 }, () => stage.kubectl(['create', '-f', '-'], loadBalancer(name)))
  const output = await Promise.all(typed)
  assert.is(output.filter(({ code }) => code === 0).length, 1)
  for (const { code, stderr } of output) if (code !== 0) assert.match(stderr, `services "${name}" already exists`)
  const address = await stage.settled(name)
  assert.is(stage.calls(routes.reserve), 1)
  assert.ok(stage.reserved().some((one) => one.address === address))
}

test('exactly one of two replicas leads', async () => {
  assert.equal([await leads(leader), await leads(other)], [true, false])
})

test('twenty simultaneous creates of one name on two replicas are one Service and one reservation', () =>
  stampede('wanted'))

test('twenty simultaneous creates of one name at a slow cloud are one Service and one reservation', async () => {
  latency.set({ ms: 400 })
  await stampede('slowly').finally(() => latency.clear())
})

test('twenty Services that are created at the same moment have twenty addresses', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `many-${n}`)
  calls.clear()
  await Promise.all(names.map((name) => stage.create(loadBalancer(name))))
  // On a busy machine a review may be too late for the create; then the controller completes it.
  const addresses = new Set<string>()
  for (const name of names) addresses.add(await stage.settled(name))
  assert.is(addresses.size, 20)
  assert.is(stage.calls(routes.reserve), 20)
})

test('a stopping leader releases its lease at once, and no review fails meanwhile', async () => {
  const before = await holder()
  const stopping = leader.stop()
  for (let n = 0; leader.isRunning() || n < 5; n += 1) {
    const { spec } = await stage.create(loadBalancer(`during-${n}`))
    assert.ok(spec.loadBalancerIP, `Service during-${n} has its address`)
  }
  assert.is(await stopping, 0)
  assert.is.not(await holder(), before, 'who stopped has let go of the lease')
  await eventually('the other leads', async () => (await leads(other)) || undefined)
  await stage.settled('during-0')
})

test('a replica that returns does not lead until the leader stops', async () => {
  await leader.stop()
  await eventually('the other leads', async () => (await leads(other)) || undefined)
  leader = await stage.start(replica(first))
  assert.equal([await leads(leader), await leads(other)], [false, true])
  const from = await holder()
  await other.stop()
  assert.is.not(await holder(), from, 'who stopped has let go of the lease')
  await eventually('the first leads again', async () => (await leads(leader)) || undefined)
  other = await stage.start(replica(second))
})

test('after a restart of the API server a new Service gets its address', async () => {
  stage.checkLog()
  await stage.controlPlane.apiserver.stop()
  await stage.controlPlane.apiserver.start()
  await eventually('a Service has its address', async () => {
    const { code } = await stage.kubectl(['create', '-f', '-'], loadBalancer('returned'))
    return code === 0 || undefined
  })
  const address = await stage.settled('returned')
  assert.ok(stage.reserved().some((one) => one.address === address))
  // The API server learns its roles a moment after its start: refusals before that are not missing rights.
  truncateSync(stage.logOf('eip-admission'))
})

test.after(() => stage.close(control))

test.run()
