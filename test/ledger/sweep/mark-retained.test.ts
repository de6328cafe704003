// The marks repeat what a record says of retention: whoever loses the records loses no retained address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { isRetained, retentionMarks, serviceMarks, sourceMarks } from '../../../ledger/record/marks.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { type Harness, graceMs, makeHarness, neverAborted, scheme } from '../harness.ts'

const marks = serviceMarks(scheme, 'default/web')
const kept = { ...marks, retained: 'true' }
const reservation = makeReservation({ id: 'res-9', address: '203.0.113.9', marks })

async function sweepTimes(harness: Harness, times: number, process = harness.process('sweeper')) {
  for (let n = 0; n < times; n += 1) {
    await process.sweep(neverAborted)
    harness.advance(graceMs + 1_000)
  }
}

const retainedIds = (harness: Harness) =>
  harness.cloud.reserved().flatMap((one) => (isRetained(one.marks) ? [one.id] : []))

for (const phase of ['Bound', 'Released'] as const)
  test(`the policy of a record that is ${phase} is in the marks after one sweep, and its change after another`, async () => {
    const harness = makeHarness()
    harness.cloud.put(reservation)
    harness.addService(makeService())
    const record = makeRecord({ phase, address: '203.0.113.9', reservationID: 'res-9' }, { reclaimPolicy: 'Retain' })
    harness.api.put(elasticIPs, record)
    const process = harness.process('sweeper')
    await sweepTimes(harness, 1, process)
    assert.equal(retainedIds(harness), ['res-9'])
    const marked = () => harness.cloud.marked.length
    const [before] = [marked(), await sweepTimes(harness, 1, process)]
    // The heartbeat.
    assert.is(marked() - before, 1)
    harness.api.put(elasticIPs, { ...record, spec: { ...record.spec, reclaimPolicy: 'Delete' } })
    await sweepTimes(harness, 1, process)
    assert.equal(retainedIds(harness), [])
  })

test('a leader that still observes marks nothing', async () => {
  const harness = makeHarness()
  harness.cloud.put(reservation)
  harness.addService(makeService())
  const status = { phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' } as const
  harness.api.put(elasticIPs, makeRecord(status))
  await sweepTimes(harness, 1)
  harness.api.put(elasticIPs, makeRecord(status, { reclaimPolicy: 'Retain' }))
  const next = harness.process('next')
  await sweepTimes(harness, 1, next)
  assert.equal(retainedIds(harness), [])
  await sweepTimes(harness, 2, next)
  assert.equal(retainedIds(harness), ['res-9'])
})

test('an address that is being released, warm, or provisioned by another record gets no mark', async () => {
  const harness = makeHarness()
  const put = (n: number, ...of: Parameters<typeof makeRecord>) => {
    const [status, spec] = of
    const { metadata, ...record } = makeRecord(
      { address: `203.0.113.${n}`, reservationID: `res-${n}`, ...status },
      spec,
    )
    harness.cloud.put({ ...reservation, id: `res-${n}`, address: `203.0.113.${n}` })
    harness.api.put(elasticIPs, { ...record, metadata: { ...metadata, name: `default.s${n}`, uid: `u${n}` } })
  }
  put(1, { phase: 'Releasing' }, { reclaimPolicy: 'Retain' })
  put(2, { phase: 'Bound' }, { reclaimPolicy: 'Retain', source: { type: 'Provisioned', name: 'office' } })
  const warm = { phase: 'Available', address: '203.0.113.3', reservationID: 'res-3' } as const
  const { metadata, ...lot } = makeLot('warm-da-1', { location: 'da', reclaimPolicy: 'Retain' }, warm)
  harness.cloud.put({ ...reservation, id: 'res-3', address: '203.0.113.3', marks: sourceMarks(scheme, 'u3') })
  harness.api.put(elasticIPs, { ...lot, metadata: { ...metadata, uid: 'u3', labels: { [warmLabel]: 'true' } } })
  await sweepTimes(harness, 1)
  assert.equal(retainedIds(harness), [])
})

test('our reservation that an operator keeps is marked, and one of another cluster is not', async () => {
  const harness = makeHarness()
  for (const [id, cluster] of [
    ['res-1', scheme.cluster],
    ['res-2', 'another'],
  ] as const) {
    harness.cloud.put({ ...reservation, id, address: `203.0.113.${id.at(-1)}`, marks: { ...marks, cluster } })
    harness.api.put(elasticIPs, makeLot(`office-${id}`, { reservationID: id, reclaimPolicy: 'Retain' }))
  }
  await sweepTimes(harness, 1)
  assert.equal(retainedIds(harness), ['res-1'])
})

test('one sweep marks ten, and a failure does not keep others from their marks', async () => {
  const harness = makeHarness()
  for (let n = 1; n <= 12; n += 1) {
    const at = { address: `203.0.113.${n}`, reservationID: `res-${n}` }
    harness.cloud.put({ ...reservation, id: at.reservationID, address: at.address })
    harness.api.put(elasticIPs, makeLot(`office-${n}`, { reservationID: `res-${n}`, reclaimPolicy: 'Retain' }))
  }
  let calls = 0
  const before = ({ verb, values: [, marks] }: HeardCall) => {
    if (verb === 'mark' && 'retained' in Object(marks) && (calls += 1) === 1)
      throw new CloudError('not now', { fault: 'auth', outcome: 'nothing' })
  }
  const process = harness.process('sweeper', { cloud: { before } })
  await sweepTimes(harness, 1, process)
  assert.is(retainedIds(harness).length, 9)
  await sweepTimes(harness, 1, process)
  assert.is(retainedIds(harness).length, 12)
})

test('a provider that does not answer a mark delays the sweep once', async () => {
  const harness = makeHarness()
  for (let n = 1; n <= 3; n += 1) {
    harness.cloud.put({ ...reservation, id: `res-${n}`, address: `203.0.113.${n}` })
    harness.api.put(elasticIPs, makeLot(`office-${n}`, { reservationID: `res-${n}`, reclaimPolicy: 'Retain' }))
  }
  let calls = 0
  const before = ({ verb, values: [, marks] }: HeardCall) => {
    if (verb !== 'mark' || !('retained' in Object(marks))) return
    calls += 1
    throw new CloudError('no answer', { fault: 'unavailable', outcome: 'unknown' })
  }
  await sweepTimes(harness, 1, harness.process('sweeper', { cloud: { before } }))
  assert.is(calls, 1)
})

test('a retained address whose record is lost stays, and the next Service of its name gets it again', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...reservation, marks: kept })
  await sweepTimes(harness, 5)
  assert.equal(harness.cloud.released, [])
  const claimed = await harness.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.9')
  assert.is(harness.cloud.calls.reserve, 0)
  assert.is(harness.record()?.spec.reclaimPolicy, 'Retain')
})

for (const [name, of, options] of [
  ['was retained', kept, {}],
  ['is an orphan that a sweep only reports', marks, { reportsOrphans: true }],
] as const)
  test(`while an address without a record ${name}, a create of another Service is one call`, async () => {
    const harness = makeHarness()
    harness.cloud.put({ ...reservation, marks: of })
    await sweepTimes(harness, 1, harness.process('sweeper', options))
    const { calls } = harness.cloud
    const callsOf = async (key: string) => {
      const before = { ...calls }
      const claimed = await harness.process('a').claim({ key })
      assert.is(claimed.kind, 'held')
      return [calls.reservations - before.reservations, calls.reserve - before.reserve]
    }
    assert.equal(await callsOf('default/other'), [0, 1])
    assert.equal(await callsOf('default/web'), [1, 0], 'its own Service finds it')
  })

test('an address retained without a record removes the mark until the next look knows it', async () => {
  const harness = makeHarness()
  const sweeper = harness.process('sweeper')
  await sweepTimes(harness, 1, sweeper)
  harness.cloud.put({ ...reservation, marks: kept })
  let isSet: boolean | undefined
  const { mark } = sweeper
  const narrow = mark.narrow.bind(mark)
  mark.narrow = async (except, signal) => {
    await narrow(except, signal)
    isSet = await harness.process('reader').mark.isSet(neverAborted)
  }
  await sweepTimes(harness, 1, sweeper)
  assert.equal([isSet, await harness.process('reader').mark.isSet(neverAborted)], [false, true])
})

test('marks that name no owner of this cluster are restored, and nothing is released', async () => {
  const harness = makeHarness()
  const lower = { ...marks, service: marks['service']?.toLowerCase() ?? '' }
  harness.cloud.put({ ...reservation, marks: lower })
  harness.addService(makeService())
  const status = { phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' } as const
  harness.api.put(elasticIPs, makeRecord(status))
  await sweepTimes(harness, 3)
  assert.is(harness.cloud.reserved()[0]?.marks['service'], marks['service'])
  assert.equal([harness.cloud.released, harness.record()?.status?.address], [[], '203.0.113.9'])
})

test('marks of a warm address that a Service now has are written again, but not those of a lent address', async () => {
  for (const source of [undefined, { type: 'Provisioned', name: 'office', uid: 'uid-office' }] as const) {
    const harness = makeHarness()
    const warm = sourceMarks(scheme, 'uid-of-a-former-warm-address')
    harness.cloud.put({ ...reservation, marks: { ...warm, retained: 'true' } })
    harness.addService(makeService())
    const record = makeRecord({ phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' })
    harness.api.put(elasticIPs, { ...record, spec: { ...record.spec, ...(source && { source }) } })
    await sweepTimes(harness, 2)
    const { service, 'elastic-ip': left } = harness.cloud.reserved()[0]?.marks ?? {}
    assert.equal([service, left], source ? [undefined, warm['elastic-ip']] : [marks['service'], undefined])
  }
})

test('marks that name another Service stay, even if another address has the id', async () => {
  for (const [of, address] of [
    [serviceMarks(scheme, 'default/other'), '203.0.113.9'],
    [serviceMarks(scheme, 'gone/gone'), '203.0.113.99'],
  ] as const) {
    const harness = makeHarness()
    harness.cloud.put({ ...reservation, address, marks: of })
    harness.addService(makeService())
    harness.addService(makeService({ name: 'other', uid: 'uid-2' }))
    harness.api.put(elasticIPs, makeRecord({ phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' }))
    await sweepTimes(harness, 1)
    assert.is(harness.cloud.reserved()[0]?.marks['service'], of['service'])
  }
})

test('an adopted address is retained if its marks call it retained', async () => {
  for (const [of, policy] of [
    [marks, 'Delete'],
    [kept, 'Retain'],
  ] as const) {
    for (const isWaiting of [false, true]) {
      const harness = makeHarness()
      harness.cloud.put({ ...reservation, marks: of })
      harness.addService(makeService())
      if (isWaiting) harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
      await sweepTimes(harness, 1)
      assert.is(harness.record()?.status?.address, '203.0.113.9')
      assert.is(harness.record()?.spec.reclaimPolicy, policy)
    }
  }
})

test('the marks of retention say yes, or nothing', () => {
  assert.equal([retentionMarks(true), retentionMarks(false)], [{ retained: 'true' }, { retained: undefined }])
})

test.run()
