// What a predecessor leaves behind: reservations by their tags, Services without a word of ours.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configMaps } from '../../kube/resource.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const { here: env, usage } = dialect
const world = await openWorld()
const { calls, faults } = world.cloud.door
const cluster = `cluster=${await world.must('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const tagOf = (name: string) => serviceTag(dialect, `default/${name}`)
const orderedFor = (name: string) => world.order([usage, tagOf(name), ...(dialect.adoptsUnmarked ? [] : [cluster])])
const found = (id: string) => world.reserved().find((one) => one.id === id)

/** A Service as a predecessor serves it: its finalizer, its address in spec and status. */
async function serve(name: string, address: string): Promise<void> {
  await world.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  const finalizers = ['service.kubernetes.io/load-balancer-cleanup']
  await world.must('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers } }))
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await world.must('patch', 'service', name, '--subresource=status', '-p', JSON.stringify({ status }))
}

const served = await orderedFor('served')
await serve('served', served.address)
const unfinished = await orderedFor('unfinished')
await world.create(loadBalancer('unfinished'))
const untagged = await world.order(['cluster-api'])
await world.create(loadBalancer('brought', { spec: { loadBalancerIP: untagged.address } }))
const deletedMeanwhile = await world.order([usage, tagOf('deleted-meanwhile'), cluster])
const others = [
  untagged,
  await world.order([usage, tagOf('served'), 'cluster=another-cluster']),
  await world.order([usage, tagOf('in-another-cluster')]),
  await world.order([usage, tagOf('brought')]),
]
const tagsOfOthers = () => others.map(({ id }) => found(id)?.tags)
const before = tagsOfOthers()
calls.clear()
const flags = ['--sweep-interval=1s', '--unbound-grace=1s']
let product = await world.start({ env, flags })

test("a predecessor's Service keeps its address and becomes ours", async () => {
  assert.is(await world.settled('served'), served.address)
  const { metadata } = (await world.service('served')) ?? {}
  assert.is(metadata?.annotations?.[shown], served.address)
  assert.ok(metadata?.finalizers?.includes(finalizer))
  const record = await world.record('served')
  assert.equal([record?.status?.reservationID, record?.spec.location], [served.id, dialect.place])
})

test('a reservation that the predecessor did not write on its Service is adopted, and no second one is made', async () => {
  assert.is(await world.settled('unfinished'), unfinished.address)
  assert.is(world.calls(routes.reserve), 0)
})

test('adopted reservations are marked with the cluster', () => {
  for (const { id } of [served, unfinished]) assert.ok(found(id)?.tags.includes(cluster))
})

test('a Service with an own address is not adopted', async () => {
  await eventually('it is looked at', async () => (await world.service('brought'))?.metadata.finalizers)
  assert.equal([shownIn(await world.service('brought')), await world.record('brought')], [untagged.address, undefined])
})

test('the sweep releases the reservation of a Service that was deleted meanwhile, and changes no reservation of others', async () => {
  await eventually('the orphan is gone', () => !found(deletedMeanwhile.id) || undefined)
  const swept = world.calls(routes.list)
  await eventually('two more sweeps', () => world.calls(routes.list) > swept + 2 || undefined)
  assert.equal(tagsOfOthers(), before)
  assert.ok([served, unfinished].every(({ id }) => found(id)))
})

test("after the adoption mark a new Service costs one call, and its reservation has the predecessor's tags", async () => {
  const ledger = { namespace: 'eip-admission', name: 'eip-admission-ledger' }
  await eventually('the mark', async (see) => {
    return see(await world.client.get(configMaps, ledger))?.data?.['adopted'] === world.project || undefined
  })
  await product.stop()
  product = await world.startSwept({ env })
  calls.clear()
  const { spec } = await world.create(loadBalancer('new'))
  assert.equal([world.calls(routes.list), world.calls(routes.reserve)], [0, 1])
  const held = world.reserved().find(({ address }) => address === spec.loadBalancerIP)
  assert.equal(held?.tags.toSorted(), [usage, tagOf('new'), cluster].toSorted())
})

test('an adopted Service that is deleted releases its address and loses both finalizers', async () => {
  await world.must('delete', 'service', 'served', '--timeout=20s')
  await world.gone('served')
  assert.not(found(served.id))
})

test('an address that was retained longer than the grace period is not released under its new Service', async () => {
  await product.stop()
  product = await world.startSwept({ env, flags })
  const manifest = loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } })
  const { spec } = await world.create(manifest)
  for (let n = 0; n < 2; n += 1) {
    await world.settled('kept')
    await world.must('delete', 'service', 'kept')
    await eventually('it is kept', async () => (await world.record('kept'))?.status?.phase === 'Released' || undefined)
    await sleep(1500)
    await world.create(manifest)
    assert.is(await world.settled('kept'), spec.loadBalancerIP)
  }
})

test('while the cloud cannot be read nothing is released', async () => {
  const paidFor = world.reserved()
  faults.add({ on: routes.list, answer: 'empty-list', times: 3 })
  // As often as the client tries.
  faults.add({ on: routes.list, answer: 500, times: 4 })
  calls.clear()
  await eventually('a good sweep after them', () => world.calls(routes.list) > 8 || undefined)
  faults.clear()
  assert.equal(world.reserved(), paidFor)
  assert.is(world.calls(routes.release), 0)
})

test.after(() => world.close())

test.run()
