import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Reservation } from '../../../clouds/ports/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { timeLimit } from '../../../lib/time-limit.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { makeRecord } from '../../builders.ts'
import { standStill } from '../../lib/stand-still.ts'
import { makeHarness, neverAborted, timeoutMs, type Harness } from '../harness.ts'

/** A process creates the record, sends its request and dies. */
async function dieAsking(harness: Harness): Promise<void> {
  const died = new Promise<never>(() => {})
  void harness.process('dead', { cloud: { before: () => died } }).claim()
  await sleep(5)
}

test('a reservation whose answer was lost is found by its marks at once', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  const claimed = await harness.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a refusal that leaves open whether the provider reserved an address does not count as a refusal', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const cloud = {
    after: ({ verb }: { verb: string }) => {
      if (verb === 'reserve') throw new CloudError('503: the quota is used up', { fault: 'quota', outcome: 'unknown' })
    },
  }
  const claimed = await harness.process('a', { cloud }).claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('while no list shows a reservation whose answer was lost, nothing is reserved until the request has timed out', async () => {
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

test('a reserve with an unknown outcome is repeated only after it has timed out', async () => {
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

for (const fate of ['lost', 'unsaid'] as const) {
  const repeating = () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    harness.cloud.repeatsOrders = true
    harness.cloud.listsLate = true
    return harness
  }

  test(`a cloud that gives all attempts of an order one address is asked again at once (${fate})`, async () => {
    const harness = repeating()
    harness.cloud.fates = [fate]
    assert.is((await harness.process('a').claim()).kind, 'held')
    assert.equal([harness.reservationsOf(), harness.cloud.calls.reserve], [['res-1'], 2])
  })

  test(`if the repetition gets no answer either, the next claim of any process repeats it (${fate})`, async () => {
    const harness = repeating()
    harness.cloud.fates = [fate, fate]
    assert.is((await harness.process('a').claim()).kind, 'pending')
    const b = harness.process('b')
    assert.is(await b.release(), 'request-in-flight', 'a release still waits for what may be bought')
    assert.is((await b.claim()).kind, 'held')
    assert.equal([harness.reservationsOf(), harness.cloud.calls.reserve], [['res-1'], 3])
  })
}

test('after a lost answer an unreadable list does not allow a second request', async () => {
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

test("a dead process's record is taken over when its request has timed out, and reservations are listed first", async () => {
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

test('a record that a dead process had taken over is taken over when its request has timed out', async () => {
  const harness = makeHarness()
  harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
  await dieAsking(harness)
  assert.is(harness.record()?.status?.requestInFlight?.sender, 'dead')
  const process = harness.process('b')
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test("each process measures a request's time-out from when it first saw the request", async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  harness.advance(60 * timeoutMs)
  const process = harness.process('b')
  assert.is((await process.claim()).kind, 'busy')
  harness.advance(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test("other changes of the record do not prolong a request's time-out", async () => {
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
  test(`a process whose clock is a day ${aheadMs > 0 ? 'ahead' : 'behind'} sends no request while another one is in flight`, async () => {
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

test('of several processes that take a record over at once, one sends a request', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await dieAsking(harness)
  const slow = { before: () => sleep(Math.random() * 5) }
  const processes = ['b', 'c', 'd'].map((identity) => harness.process(identity, { kube: slow, cloud: slow }))
  await Promise.all(processes.map((process) => process.claim()))
  harness.advance(timeoutMs)
  await Promise.all(processes.map((process) => process.claim({ wait: true }, AbortSignal.timeout(60_000))))
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a process that was frozen before its request does not send it after its time limit', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'create' ? standStill(60) : undefined) }
  const claimed = await harness.process('a', { kube: freeze, timeLimit: () => timeLimit(40) }).claim()
  assert.is(claimed.kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('a process whose list took all the time does not reserve', async () => {
  const harness = makeHarness()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'reservations' ? standStill(60) : undefined) }
  assert.is((await harness.process('a', { cloud: freeze, timeLimit: () => timeLimit(40) }).claim()).kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('a process that gives up after a freeze does not overwrite the request of another process', async () => {
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

test('two processes that both reserved agree on one address', async () => {
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

test('a record without a request may be claimed at once', async () => {
  const harness = makeHarness()
  const { status: _none, ...record } = makeRecord()
  harness.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  assert.is((await harness.process('a').claim()).kind, 'held')
  assert.equal(harness.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'])
})

test("a reservation that the record's spec names is used, whatever location the claim requests", async () => {
  const harness = makeHarness()
  await harness.cloud.cloud.reserve({ location: 'da', marks: {} }, neverAborted)
  const { status: _none, ...record } = makeRecord(undefined, { reservationID: 'res-1' })
  harness.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  const claimed = await harness.process('a').claim({ location: 'sv' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.record()?.spec.location, 'da')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a claim with another location and reclaim policy takes an unanswered record over', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('unavailable')
  const process = harness.process('a')
  await process.claim()
  await process.claim({ location: 'sv', reclaim: 'Retain', isReclaimStated: true })
  assert.is(harness.cloud.bought[0]?.location, 'sv')
  assert.equal([harness.record()?.spec.location, harness.record()?.spec.reclaimPolicy], ['sv', 'Retain'])
})

test('the default is not a reclaim policy that a Service requests: the unanswered record keeps its own', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('unavailable')
  const process = harness.process('a')
  await process.claim({ reclaim: 'Retain' })
  await process.claim({ reclaim: 'Delete' })
  assert.equal([harness.record()?.status?.phase, harness.record()?.spec.reclaimPolicy], ['Reserved', 'Retain'])
})

test('a reservation in the previous location whose answer was lost is used, and the record names its location', async () => {
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

test('a refusal that is interrupted leaves a record that the next claim protects with our finalizer', async () => {
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

test('a refused claim does not remove its record once another process uses it', async () => {
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

test.run()
