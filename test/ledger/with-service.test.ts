// The ledger and the Service controller together, a look at a time.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Service, keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { bind } from '../../ledger/claim/bind.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { addressAnnotation, serviceFinalizer } from '../../ledger/record/names.ts'
import { retain } from '../../ledger/release/release.ts'
import { makeService } from '../builders.ts'
import { graceMs, makeWorld, type Process, type World } from './harness.ts'

const key = 'default/web'

async function retained(): Promise<{ world: World; a: Process }> {
  const world = makeWorld()
  world.adopted()
  const a = world.process('a')
  await a.claim({ reclaim: 'Retain' })
  await bind(a.deps, world.record() as ElasticIP, 'uid-0')
  await retain(a.deps, world.record() as ElasticIP)
  world.pass(30 * 24 * 3_600_000)
  return { world, a }
}

/** As admission answered: the Service with its finalizer, and the address that it was told. */
function store(world: World, address: string): void {
  const annotations = { [addressAnnotation]: address }
  world.addService(makeService({ finalizers: [serviceFinalizer], annotations, loadBalancerIP: address }))
}

const shown = (world: World) => {
  const service: Service | undefined = world.api.stored(services).find((one) => keyOf(one) === key)
  return [service?.spec.loadBalancerIP, service?.status?.loadBalancer?.ingress?.[0]?.ip]
}

test('an address that was kept for a month is not given back while its new Service is on its way', async () => {
  const { world, a } = await retained()
  await a.claim({ reclaim: 'Retain' })
  await a.reconcile(key)
  assert.is(world.record()?.status?.phase, 'Reserved')
  store(world, '203.0.113.1')
  await a.reconcile(key)
  assert.is(world.record()?.status?.phase, 'Bound')
  assert.equal(world.held(), ['res-1'])
})

test('nor when that Service never comes: it is kept for the next', async () => {
  const { world, a } = await retained()
  await a.claim({ reclaim: 'Retain' })
  world.pass(graceMs + 1_000)
  await a.reconcile(key)
  assert.is(world.record()?.status?.phase, 'Released')
  assert.equal(world.held(), ['res-1'])
})

test('a kept address whose record a person deletes goes back, if no Service was quicker', async () => {
  const { world, a } = await retained()
  await world.api.client.remove(elasticIPs, { name: 'default.web' })
  await a.reconcile(key)
  assert.equal([world.held(), world.record()], [[], undefined])
})

for (const phase of ['Requested', 'Released'] as const) {
  test(`a Service whose record a person deleted (${phase}) still gets an address`, async () => {
    const { world, a } = await retained()
    if (phase === 'Requested') {
      await a.release()
      world.sky.fates.push('unavailable')
      await a.claim()
    }
    assert.is(world.record()?.status?.phase, phase)
    await world.api.client.remove(elasticIPs, { name: 'default.web' })
    world.addService(makeService())
    await a.reconcile(key)
    assert.is(world.record()?.status?.phase, 'Bound')
    assert.is(world.held().length, 1)
  })
}

test('a Service that was told an address in the moment it went back gets another, and shows that one', async () => {
  const world = makeWorld()
  world.adopted()
  const a = world.process('a')
  const told = await a.claim()
  world.pass(graceMs + 1_000)
  await a.reconcile(key)
  assert.equal(world.held(), [])
  store(world, told.kind === 'held' ? told.address : 'none')
  await a.reconcile(key)
  assert.equal(world.held(), ['res-2'])
  assert.equal(shown(world), ['203.0.113.2', '203.0.113.2'])
})

test('an address that came after its Service had gone is not kept', async () => {
  const world = makeWorld()
  world.adopted()
  const answer = Promise.withResolvers<void>()
  const slow = world.process('slow', { sky: { before: () => answer.promise } })
  const claiming = slow.claim({ wait: true }, AbortSignal.timeout(20))
  assert.is((await claiming).kind, 'pending')
  world.addService(makeService({ finalizers: [serviceFinalizer] }))
  await world.api.client.remove(services, { namespace: 'default', name: 'web' })
  const a = world.process('a')
  assert.equal(await a.reconcile(key), { againInMs: 5_000 })
  answer.resolve()
  await slow.claims.idle()
  await a.reconcile(key)
  assert.equal([world.held(), world.record(), world.api.stored(services)], [[], undefined, []])
})

test.run()
