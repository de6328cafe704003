import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeObject } from '../../kube/objects.ts'
import { eventually } from './eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from './manifests.ts'
import { shownIn } from './stored.ts'
import { type World, openWorld, routes } from './world.ts'

const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const usage = 'usage=cloud-provider-equinix-metal-auto'

/** What Equinix Metal's own controller leaves behind: reservations by their tags, Services without a word of ours. */
async function predecessor(world: World) {
  const namespace = JSON.parse(await world.must('get', 'namespace', 'kube-system', '-o', 'json')) as KubeObject
  const cluster = `cluster=${namespace.metadata.uid}`
  const tagOf = (key: string) => `service=${createHash('sha256').update(key).digest('base64')}`
  async function reserve(tags: string[]) {
    const body = JSON.stringify({ type: 'public_ipv4', quantity: 1, metro: 'da', tags })
    const headers = { 'x-auth-token': world.token, 'content-type': 'application/json' }
    const answer = await fetch(`${world.cloud.url}/projects/${world.project}/ips`, { method: 'POST', headers, body })
    return (await answer.json()) as { id: string; address: string }
  }
  return {
    cluster,
    reserve,
    reserveFor: (key: string) => reserve([usage, tagOf(key), cluster]),
    /** A Service as that controller serves it: its finalizer, its address in spec and status. */
    async serve(name: string, address: string) {
      await world.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
      await world.must('patch', 'service', name, '-p', `{"metadata":{"finalizers":["${upstream}"]}}`)
      const status = `{"status":{"loadBalancer":{"ingress":[{"ip":"${address}"}]}}}`
      await world.must('patch', 'service', name, '--subresource=status', '-p', status)
    },
  }
}

const world = await openWorld()
const { calls, faults } = world.cloud.door
const old = await predecessor(world)
const holds = (id: string) => world.reserved().some((one) => one.id === id)

const served = await old.reserveFor('default/served')
await old.serve('served', served.address)
const unfinished = await old.reserveFor('default/unfinished')
await world.create(loadBalancer('unfinished'))
const deletedMeanwhile = await old.reserveFor('default/deleted-meanwhile')
const neighbours = await old.reserve([usage, 'service=x', 'cluster=another-cluster'])
const untagged = await old.reserve(['cluster-api'])
const halfTagged = await old.reserve([usage, 'service=y'])
await world.create(loadBalancer('brought', { spec: { loadBalancerIP: untagged.address } }))
const flags = ['--sweep-interval=1s', '--unbound-grace=2s']
calls.clear()
const env = { METAL_METRO_NAME: 'da' }
let product = await world.start({ env, flags })

test("a predecessor's Service keeps its address and becomes ours", async () => {
  assert.is(await world.settled('served'), served.address)
  const { metadata } = (await world.service('served')) ?? {}
  assert.is(metadata?.annotations?.[shown], served.address)
  assert.ok(metadata?.finalizers?.includes(finalizer))
  const record = await world.record('served')
  assert.equal([record?.status?.reservationID, record?.spec.location], [served.id, 'da'])
})

test('a reservation that the predecessor made and did not write down is used, not doubled', async () => {
  assert.is(await world.settled('unfinished'), unfinished.address)
  assert.is(world.calls(routes.reserve), 0)
})

test('a Service whose address a person had brought stays theirs', async () => {
  await eventually('it is looked at', async () => (await world.service('brought'))?.metadata.finalizers)
  assert.equal([shownIn(await world.service('brought')), await world.record('brought')], [untagged.address, undefined])
})

test("the reservation of a Service that went meanwhile is given back; nobody else's ever is", async () => {
  await eventually('the orphan is gone', () => !holds(deletedMeanwhile.id) || undefined)
  await eventually('two more sweeps', () => world.calls(routes.list) > 8 || undefined)
  for (const { id } of [served, unfinished, neighbours, untagged, halfTagged]) assert.ok(holds(id))
})

test('then the mark is set, and a new Service costs one call', async () => {
  const mark = ['get', 'configmap', 'eip-admission-ledger', '-n', 'eip-admission', '-o=jsonpath={.data.adopted}']
  await eventually('the mark', async () => (await world.kubectl(mark)).stdout === world.project || undefined)
  await product.stop()
  product = await world.startSwept({ env })
  calls.clear()
  await world.create(loadBalancer('new'))
  assert.equal([world.calls(routes.list), world.calls(routes.reserve)], [0, 1])
})

test('an adopted Service that is deleted gives its address back and loses both finalizers', async () => {
  await world.must('delete', 'service', 'served', '--timeout=20s')
  await world.gone('served')
  assert.not(holds(served.id))
})

test('an address that was kept for longer than the grace period is not given back under its new Service', async () => {
  await product.stop()
  product = await world.startSwept({ env, flags })
  const manifest = loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } })
  const { spec } = await world.create(manifest)
  for (let n = 0; n < 2; n += 1) {
    await world.settled('kept')
    await world.must('delete', 'service', 'kept')
    await eventually('it is kept', async () => (await world.record('kept'))?.status?.phase === 'Released' || undefined)
    await sleep(2500)
    await world.create(manifest)
    assert.is(await world.settled('kept'), spec.loadBalancerIP)
  }
})

test('while the cloud cannot be read nothing is given back', async () => {
  const before = world.reserved()
  faults.add({ on: routes.list, answer: 'empty-list', times: 3 })
  faults.add({ on: routes.list, answer: 500, times: 3 })
  calls.clear()
  await eventually('six sweeps', () => world.calls(routes.list) > 6 || undefined)
  faults.clear()
  assert.equal(world.reserved(), before)
  assert.is(world.calls(routes.release), 0)
})

test('the log shows no missing right and no secret', () => world.close())

test.run()
