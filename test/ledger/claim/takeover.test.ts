import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { timeLimit } from '../../../lib/time-limit.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { makeRecord } from '../../builders.ts'
import { makeHarness, neverAborted, timeoutMs, type Harness } from '../harness.ts'

/** A process writes the record, asks, and dies. */
async function dieAsking(harness: Harness): Promise<void> {
  const died = new Promise<never>(() => {})
  void harness.process('dead', { cloud: { before: () => died } }).claim()
  await sleep(5)
}

test('an answer that was lost is found by its marks at once', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  const claimed = await harness.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a lost answer that no list shows yet is looked for again before anything is reserved', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  harness.cloud.listsLate = true
  const [a, b] = [harness.process('a'), harness.process('b')]
  assert.is((await a.claim()).kind, 'pending')
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 5_000) {
    assert.equal([(await a.claim()).kind, (await b.claim()).kind], ['busy', 'busy'])
    harness.advance(5_000)
  }
  harness.cloud.settle()
  const claimed = await b.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a call that failed, nobody knows how far it came, is made again when it is surely over', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('unsaid')
  const process = harness.process('a')
  await process.claim()
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(harness.reservationsOf(), ['res-1'])
})

test('a list that cannot be read after a lost answer proves nothing', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  const blind = { before: ({ verb }: { verb: string }) => void (harness.cloud.unreadable = verb === 'reservations') }
  assert.is((await harness.process('a', { cloud: blind }).claim()).kind, 'pending')
  harness.cloud.unreadable = false
  harness.advance(1)
  assert.is((await harness.process('b').claim()).kind, 'busy')
  assert.ok(harness.record())
})

test('the question of a process that died is left alone as long as it may be under way, then put anew with a list first', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  const process = harness.process('b')
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs - 1)
  assert.is((await process.claim()).kind, 'busy')
  assert.equal(harness.cloud.calls, { reserve: 0, reservations: 0, reservation: 0, release: 0 })
  harness.advance(1)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(harness.cloud.calls, { reserve: 1, reservations: 1, reservation: 0, release: 0 })
})

test('the same where it had taken an older record over', async () => {
  const harness = makeHarness()
  harness.cloud.fates.push('quota')
  await harness.process('a').claim()
  await dieAsking(harness)
  assert.is(harness.record()?.status?.requestInFlight?.sender, 'dead')
  const process = harness.process('b')
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test('each process counts from when it saw the question itself', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  harness.advance(60 * timeoutMs)
  const process = harness.process('b')
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test("others' changes of the record do not make it wait longer", async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  const process = harness.process('b')
  await process.claim()
  harness.advance(timeoutMs)
  const record = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, labels: { team: 'red' } } })
  assert.is((await process.claim()).kind, 'held')
})

for (const aheadMs of [24 * 3_600_000, -24 * 3_600_000]) {
  test(`a clock that is a day ${aheadMs > 0 ? 'ahead' : 'behind'} makes nobody ask while another does`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    await dieAsking(harness)
    const process = harness.process('b')
    process.clock.aheadMs = aheadMs
    assert.is((await process.claim()).kind, 'busy')
    harness.advance(timeoutMs / 2)
    process.clock.aheadMs *= -1
    assert.is((await process.claim()).kind, 'busy')
    assert.is(harness.cloud.calls.reserve, 0)
  })
}

test('of several that take over at once one asks', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  const slow = { before: () => sleep(Math.random() * 5) }
  const processes = ['b', 'c', 'd'].map((identity) => harness.process(identity, { kube: slow, cloud: slow }))
  await Promise.all(processes.map((process) => process.claim()))
  harness.advance(timeoutMs)
  await Promise.all(processes.map((process) => process.claim({ wait: true }, AbortSignal.timeout(3_000))))
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a process that was frozen before it asked does not ask any more', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'create' ? blockThisProcess(60) : undefined) }
  const claimed = await harness.process('a', { kube: freeze, timeLimit: () => timeLimit(40) }).claim()
  assert.is(claimed.kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('nor does one whose list took all the time', async () => {
  const harness = makeHarness()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'reservations' ? blockThisProcess(60) : undefined) }
  assert.is((await harness.process('a', { cloud: freeze, timeLimit: () => timeLimit(40) }).claim()).kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('one that was frozen and gives up does not say so over the question of another', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const frozen = Promise.withResolvers<void>()
  const spent = new AbortController()
  const a = harness.process('a', {
    cloud: { before: () => frozen.promise },
    timeLimit: () => ({ signal: spent.signal, isOver: () => false }),
  })
  const first = a.claim()
  await sleep(5)
  const answer = Promise.withResolvers<void>()
  const slow = harness.process('slow', {
    cloud: { before: ({ verb }) => (verb === 'reserve' ? answer.promise : undefined) },
  })
  await slow.claim()
  harness.advance(timeoutMs)
  const second = slow.claim()
  await sleep(5)
  spent.abort()
  frozen.resolve()
  assert.is((await first).kind, 'pending')
  assert.is((await harness.process('c').claim()).kind, 'busy')
  answer.resolve()
  assert.is((await second).kind, 'held')
  assert.is(harness.reservationsOf().length, 1)
})

test('two that reserved all the same agree on one address, and the other is known for an orphan', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const late = Promise.withResolvers<void>()
  const first = harness.process('a', { cloud: { after: () => late.promise } }).claim()
  await sleep(5)
  const b = harness.process('b', {
    cloud: { before: ({ verb }) => void (harness.cloud.listsLate = verb === 'reserve') },
  })
  await b.claim()
  harness.cloud.put({ ...(harness.cloud.bought[0] as Reservation), marks: {} })
  harness.advance(timeoutMs)
  const second = await b.claim()
  late.resolve()
  assert.is(second.kind === 'held' && second.address, '203.0.113.2')
  const answer = await first
  assert.is(answer.kind === 'held' && answer.address, '203.0.113.2')
  assert.is(harness.record()?.status?.reservationID, 'res-2')
})

test('a record that nobody has asked for yet may be asked for at once', async () => {
  const harness = makeHarness()
  const { status: _none, ...record } = makeRecord()
  harness.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  assert.is((await harness.process('a').claim()).kind, 'held')
  assert.equal(harness.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'])
})

test('a reservation that was provisioned by hand is used, and what it is in is not asked twice', async () => {
  const harness = makeHarness()
  await harness.cloud.cloud.reserve({ location: 'da', marks: {} }, neverAborted)
  const { status: _none, ...record } = makeRecord(undefined, { reservationID: 'res-1' })
  harness.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  const claimed = await harness.process('a').claim({ location: 'sv' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.record()?.spec.location, 'da')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('an unanswered record goes along with a claim for another location and another policy', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('unavailable')
  const process = harness.process('a')
  await process.claim()
  await process.claim({ location: 'sv', reclaim: 'Retain' })
  assert.is(harness.cloud.bought[0]?.location, 'sv')
  assert.equal([harness.record()?.spec.location, harness.record()?.spec.reclaimPolicy], ['sv', 'Retain'])
})

test('a lost answer from the old location is used, and the record says where it is', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  harness.cloud.listsLate = true
  const process = harness.process('a')
  await process.claim({ location: 'da' })
  await process.claim({ location: 'sv' })
  harness.cloud.settle()
  harness.advance(timeoutMs)
  const claimed = await process.claim({ location: 'sv' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.record()?.spec.location, 'da')
})

test('a claim that is refused in the middle leaves no record that could go without us', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('quota')
  const cut = {
    before: ({ verb }: { verb: string }) => {
      if (verb === 'remove') throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
    },
  }
  const [cutOff] = await Promise.allSettled([harness.process('a', { kube: cut }).claim()])
  assert.is(cutOff.status, 'rejected')
  const process = harness.process('b')
  await process.claim()
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(harness.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'])
})

test('a fresh record that another has begun to use is not removed by the refusal of the first', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('quota')
  const removing = Promise.withResolvers<void>()
  const slow = { before: ({ verb }: { verb: string }) => (verb === 'remove' ? removing.promise : undefined) }
  const first = harness.process('a', { kube: slow }).claim()
  await sleep(5)
  const b = harness.process('b')
  await b.claim()
  harness.advance(timeoutMs)
  const second = await b.claim()
  removing.resolve()
  await first
  assert.is(second.kind, 'held')
  assert.is(harness.record()?.status?.address, '203.0.113.1')
  assert.is(harness.record()?.metadata.deletionTimestamp, undefined)
})

/** Nothing of this process runs, its timers included. */
function blockThisProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test.run()
