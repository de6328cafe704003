// A leader whose clock differs from those of other replicas, the API server and the cloud.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcer } from '../../announcers/announcer.ts'
import { services } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { withdrawingAnnotation } from '../../ledger/record/names.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { makeReservation, makeService } from '../builders.ts'
import { graceMs, makeHarness, neverAborted, scheme, type Harness, type ProcessOptions } from './harness.ts'

const dayMs = 24 * 3_600_000
const key = 'default/web'

function leaderWith(harness: Harness, aheadMs: number, options: ProcessOptions = {}) {
  const leader = harness.alone('leader', options)
  leader.clock.aheadMs = aheadMs
  return leader
}

for (const [name, aheadMs] of [
  ['a day ahead', dayMs],
  ['a day behind', -dayMs],
] as const) {
  test(`a leader whose clock is ${name} keeps what another replica reserved for the grace period`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    await harness.alone('webhook').claim()
    const leader = leaderWith(harness, aheadMs)
    await leader.reconcile(key)
    harness.advance(graceMs - 1_000)
    await leader.reconcile(key)
    assert.equal(harness.cloud.released, [])
    harness.advance(2_000)
    await leader.reconcile(key)
    assert.equal(harness.cloud.released, ['res-1'])
  })

  test(`a leader whose clock is ${name} releases an orphan when it has seen it for the grace period`, async () => {
    const harness = makeHarness()
    const marks = serviceMarks(scheme, key)
    harness.cloud.put(makeReservation({ id: 'orphan', marks, createdAt: harness.now().toISOString() }))
    const leader = leaderWith(harness, aheadMs)
    for (let n = 0; n < 3; n += 1) await leader.sweep(neverAborted)
    harness.advance(graceMs - 1_000)
    await leader.sweep(neverAborted)
    assert.equal(harness.cloud.released, [])
    harness.advance(2_000)
    await leader.sweep(neverAborted)
    assert.equal(harness.cloud.released, ['orphan'])
  })

  test(`a leader whose clock is ${name} gives software a minute to withdraw, no matter who wrote when that began`, async () => {
    const software: Announcer = {
      name: 'metallb',
      withdrawal: { annotations: { 'metallb.io/address-pool': 'disabled' }, clearsStatus: true },
      request: () => ({}),
    }
    const harness = makeHarness()
    harness.setAdoptionMark()
    const leader = leaderWith(harness, aheadMs, { announcer: software })
    harness.addService(makeService())
    await leader.reconcile(key)
    const stored = () => harness.api.stored(services)[0]
    const { metadata, spec, ...service } = stored() ?? makeService()
    const ingress = [{ ip: spec.loadBalancerIP ?? '' }]
    const deletionTimestamp = harness.now().toISOString()
    const leaving = { ...metadata, deletionTimestamp }
    harness.addService({ ...service, metadata: leaving, spec, status: { loadBalancer: { ingress } } })
    await leader.reconcile(key)
    harness.advance(59_000)
    await leader.reconcile(key)
    assert.equal([harness.cloud.released, stored()?.status?.loadBalancer], [[], { ingress }])
    harness.advance(2_000)
    await leader.reconcile(key)
    assert.equal([harness.cloud.released, stored()], [['res-1'], undefined])
  })
}

for (const since of ['2001-01-31T09:00:00Z', '2099-01-31T09:00:00Z', 'never']) {
  test(`a tenant who writes ${since} as the beginning of a withdrawal neither shortens nor prolongs it`, async () => {
    const annotations = { 'metallb.io/address-pool': 'disabled' }
    const software: Announcer = {
      name: 'metallb',
      withdrawal: { annotations, clearsStatus: true },
      request: () => ({}),
    }
    const harness = makeHarness()
    harness.setAdoptionMark()
    const leader = leaderWith(harness, 0, { announcer: software })
    harness.addService(makeService())
    await leader.reconcile(key)
    const stored = () => harness.api.stored(services)[0]
    const write = (value: string) => {
      const { metadata, ...service } = stored() ?? makeService()
      const deletionTimestamp = metadata.deletionTimestamp ?? harness.now().toISOString()
      const written = { ...metadata.annotations, [withdrawingAnnotation]: value }
      const ingress = [{ ip: '203.0.113.1' }]
      harness.addService({
        ...service,
        metadata: { ...metadata, deletionTimestamp, annotations: written },
        status: { loadBalancer: { ingress } },
      })
    }
    write(since)
    await leader.reconcile(key)
    const { metadata, spec } = stored() ?? makeService()
    assert.equal(
      [metadata.annotations?.['metallb.io/address-pool'], spec.loadBalancerIP],
      ['disabled', undefined],
      'the software is asked, although the annotation says that it was',
    )
    harness.advance(59_000)
    write(since)
    await leader.reconcile(key)
    assert.equal(harness.cloud.released, [])
    harness.advance(2_000)
    write(since)
    await leader.reconcile(key)
    assert.equal(harness.cloud.released, ['res-1'])
  })
}

test('the warm address of a location that no Service uses any more is kept for the grace period', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.alone('filler', { warmPool: 1 }).fillPool()
  const leader = leaderWith(harness, dayMs, { warmPool: 1, locations: ['sv'] })
  const phase = () =>
    harness.api.stored(elasticIPs).find(({ metadata }) => metadata.name === 'warm-da-1')?.status?.phase
  await leader.fillPool()
  assert.is(phase(), undefined)
  harness.advance(graceMs)
  await leader.fillPool()
  assert.is(phase(), 'Releasing')
})

test.run()
