// Adoption of a predecessor's remains: reservations with its tags, Services without our annotations.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configMaps } from '../../kube/resource.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { shownIn } from '../whole/stored.ts'
import { clusterTest, dialect, openStage, routes } from './dialect.ts'

const { here: env, usage } = dialect
const stage = await openStage()
const { calls, faults } = stage.cloud.control
const cluster = `cluster=${await stage.run('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')}`
const tagOf = (name: string) => serviceTag(dialect, `default/${name}`)
const orderedFor = (name: string) => stage.order([usage, tagOf(name), ...(dialect.adoptsUnmarked ? [] : [cluster])])
const found = (id: string) => stage.reserved().find((one) => one.id === id)

/** Creates a Service as a predecessor leaves it: with its finalizer, its address in spec and status. */
async function serve(name: string, address: string): Promise<void> {
  await stage.create(loadBalancer(name, { spec: { loadBalancerIP: address } }))
  const finalizers = ['service.kubernetes.io/load-balancer-cleanup']
  await stage.run('patch', 'service', name, '-p', JSON.stringify({ metadata: { finalizers } }))
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await stage.run('patch', 'service', name, '--subresource=status', '-p', JSON.stringify({ status }))
}

const served = await orderedFor('served')
await serve('served', served.address)
const unfinished = await orderedFor('unfinished')
await stage.create(loadBalancer('unfinished'))
const untagged = await stage.order(['cluster-api'])
await stage.create(loadBalancer('brought', { spec: { loadBalancerIP: untagged.address } }))
const deletedMeanwhile = await stage.order([usage, tagOf('deleted-meanwhile'), cluster])
const others = [
  untagged,
  await stage.order([usage, tagOf('served'), 'cluster=another-cluster']),
  await stage.order([usage, tagOf('in-another-cluster')]),
  await stage.order([usage, tagOf('brought')]),
]
const tagsOfOthers = () => others.map(({ id }) => found(id)?.tags)
const before = tagsOfOthers()
calls.clear()
const flags = ['--sweep-interval=1s', '--unbound-grace=1s']
let product = await stage.start({ env, flags })

test("a predecessor's Service keeps its address and becomes ours", async () => {
  assert.is(await stage.settled('served'), served.address)
  const { metadata } = (await stage.service('served')) ?? {}
  assert.is(metadata?.annotations?.[shown], served.address)
  assert.ok(metadata?.finalizers?.includes(finalizer))
  const record = await stage.record('served')
  assert.equal([record?.status?.reservationID, record?.spec.location], [served.id, dialect.place])
})

if (dialect.adoptsUnmarked) {
  test("a reservation without a cluster that no Service shows may be another cluster's: its Service gets another one", async () => {
    assert.is.not(await stage.settled('unfinished'), unfinished.address)
    assert.equal(found(unfinished.id)?.tags, [usage, tagOf('unfinished')])
  })
} else {
  test('a reservation that the predecessor did not write on its Service is adopted, and no second one is made', async () => {
    assert.is(await stage.settled('unfinished'), unfinished.address)
    assert.is(stage.calls(routes.reserve), 0)
  })
}

test('adopted reservations are marked with the cluster', async () => {
  for (const name of ['served', 'unfinished']) await stage.settled(name)
  const adopted = dialect.adoptsUnmarked ? [served] : [served, unfinished]
  for (const { id } of adopted) assert.ok(found(id)?.tags.includes(cluster))
})

clusterTest('a Service with a user-chosen address is not adopted', async () => {
  await eventually('it is looked at', async () => (await stage.service('brought'))?.metadata.finalizers)
  assert.equal([shownIn(await stage.service('brought')), await stage.record('brought')], [untagged.address, undefined])
})

test('the sweep releases the reservation of a Service that was deleted meanwhile, and changes no reservation of others', async () => {
  await eventually('the orphan no longer exists', () => !found(deletedMeanwhile.id) || undefined)
  const swept = stage.calls(routes.list)
  await eventually('two more sweeps', () => stage.calls(routes.list) > swept + 2 || undefined)
  assert.equal(tagsOfOthers(), before)
  assert.ok([served, unfinished].every(({ id }) => found(id)))
})

test("after the adoption mark a new Service costs one call, and its reservation has the predecessor's tags", async () => {
  const ledger = { namespace: 'eip-admission', name: 'eip-admission-ledger' }
  await eventually('the mark', async (observe) => {
    return observe(await stage.client.get(configMaps, ledger))?.data?.['adopted'] === stage.project || undefined
  })
  await product.stop()
  product = await stage.startSwept({ env })
  calls.clear()
  const { spec } = await stage.create(loadBalancer('new'))
  assert.equal([stage.calls(routes.list), stage.calls(routes.reserve)], [0, 1])
  const held = stage.reserved().find(({ address }) => address === spec.loadBalancerIP)
  assert.equal(held?.tags.toSorted(), [usage, tagOf('new'), cluster].toSorted())
})

clusterTest('an adopted Service that is deleted releases its address and loses both finalizers', async () => {
  await stage.settled('served')
  await stage.run('delete', 'service', 'served', '--timeout=120s')
  await stage.gone('served')
  // A reservation that named no cluster may in fact be another cluster's.
  assert.is(found(served.id) !== undefined, dialect.adoptsUnmarked === true)
})

/** A predecessor reserved an address for a Service while we were stopped; our program finds it at its next start. */
const startAfterwards = once(async () => {
  await product.stop()
  const { address } = await orderedFor('back')
  await stage.create(loadBalancer('back'))
  calls.clear()
  // In a project without other clusters, a reservation that names none is ours.
  product = await stage.start({ env, flags: [...flags, '--sweep-untagged'] })
  return address
})
clusterTest('a reservation that a predecessor made while we were away is adopted', async () => {
  const address = await startAfterwards()
  assert.is(await stage.settled('back'), address)
  assert.is(stage.calls(routes.reserve), 0)
})

clusterTest(
  'an address that was retained longer than the grace period is not released under its new Service',
  async () => {
    await startAfterwards()
    const manifest = loadBalancer('kept', { annotations: { [reclaim]: 'Retain' } })
    await stage.create(manifest)
    const address = await stage.settled('kept')
    for (let n = 0; n < 2; n += 1) {
      await stage.run('delete', 'service', 'kept')
      await eventually(
        'it is kept',
        async () => (await stage.record('kept'))?.status?.phase === 'Released' || undefined,
      )
      await sleep(1500)
      await stage.create(manifest)
      assert.is(await stage.settled('kept'), address)
    }
  },
)

clusterTest('a second reservation with the marks of a live Service is kept, and an Event reports it', async () => {
  await startAfterwards()
  const held = await stage.settled('new')
  const second = await stage.order([usage, tagOf('new'), cluster])
  const message = await eventually('an Event', async (observe) => {
    const events = observe(await stage.run('get', 'events', '--field-selector=involvedObject.name=new'))
    return events.includes('SurplusReservation') ? events : undefined
  })
  assert.match(message, new RegExp(`${second.id} \\(${second.address}\\).* but the Service has ${held}`))
  const swept = stage.calls(routes.list)
  await eventually('four more sweeps', () => stage.calls(routes.list) > swept + 4 || undefined)
  assert.ok(found(second.id))
  assert.is(await stage.settled('new'), held)
})

clusterTest('while the provider cannot be read nothing is released', async () => {
  await startAfterwards()
  // Tags are left out, because each successful sweep writes a new heartbeat.
  const paidFor = () => stage.reserved().map(({ id, address, state }) => ({ id, address, state }))
  const before = paidFor()
  faults.add({ on: routes.list, answer: 'empty-list', times: 3 })
  // As many times as the client tries.
  faults.add({ on: routes.list, answer: 500, times: 4 })
  calls.clear()
  await eventually('a good sweep after them', () => stage.calls(routes.list) > 8 || undefined)
  faults.clear()
  assert.equal(paidFor(), before)
  assert.is(stage.calls(routes.release), 0)
})

test.after(() => stage.close())

test.run()
