import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { timeLimit } from '../../../lib/time-limit.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { makeRecord } from '../../builders.ts'
import { makeWorld, neverAborted, timeoutMs, type World } from '../harness.ts'

/** A process writes the record, asks, and dies. */
async function dieAsking(world: World): Promise<void> {
  const died = new Promise<never>(() => {})
  void world.process('dead', { sky: { before: () => died } }).claim()
  await sleep(5)
}

test('an answer that was lost is found by its marks at once', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  const claimed = await world.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.sky.calls.reserve, 1)
})

test('a lost answer that no list shows yet is looked for again before anything is reserved', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  world.sky.listsLate = true
  const [a, b] = [world.process('a'), world.process('b')]
  assert.is((await a.claim()).kind, 'pending')
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 5_000) {
    assert.equal([(await a.claim()).kind, (await b.claim()).kind], ['pending', 'pending'])
    world.pass(5_000)
  }
  world.sky.settle()
  const claimed = await b.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.sky.calls.reserve, 1)
})

test('a call that failed, nobody knows how far it came, is made again when it is surely over', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('unsaid')
  const process = world.process('a')
  await process.claim()
  assert.is((await process.claim()).kind, 'pending')
  world.pass(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(world.held(), ['res-1'])
})

test('a list that cannot be read after a lost answer proves nothing', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  const blind = { before: ({ verb }: { verb: string }) => void (world.sky.unreadable = verb === 'reservations') }
  assert.is((await world.process('a', { sky: blind }).claim()).kind, 'pending')
  world.sky.unreadable = false
  world.pass(1)
  assert.is((await world.process('b').claim()).kind, 'pending')
  assert.ok(world.record())
})

test('the question of a process that died is left alone as long as it may be under way, then put anew with a list first', async () => {
  const world = makeWorld()
  world.adopted()
  await dieAsking(world)
  const process = world.process('b')
  assert.is((await process.claim()).kind, 'pending')
  world.pass(timeoutMs - 1)
  assert.is((await process.claim()).kind, 'pending')
  assert.equal(world.sky.calls, { reserve: 0, reservations: 0, reservation: 0, release: 0 })
  world.pass(1)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(world.sky.calls, { reserve: 1, reservations: 1, reservation: 0, release: 0 })
})

test('the same where it had taken an older record over', async () => {
  const world = makeWorld()
  world.sky.fates.push('quota')
  await world.process('a').claim()
  await dieAsking(world)
  assert.is(world.record()?.status?.requestInFlight?.sender, 'dead')
  const process = world.process('b')
  assert.is((await process.claim()).kind, 'pending')
  world.pass(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test('each process counts from when it saw the question itself', async () => {
  const world = makeWorld()
  world.adopted()
  await dieAsking(world)
  world.pass(60 * timeoutMs)
  const process = world.process('b')
  assert.is((await process.claim()).kind, 'pending')
  world.pass(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
})

test("others' changes of the record do not make it wait longer", async () => {
  const world = makeWorld()
  world.adopted()
  await dieAsking(world)
  const process = world.process('b')
  await process.claim()
  world.pass(timeoutMs)
  const record = world.record() as ElasticIP
  world.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, labels: { team: 'red' } } })
  assert.is((await process.claim()).kind, 'held')
})

for (const aheadMs of [24 * 3_600_000, -24 * 3_600_000]) {
  test(`a clock that is a day ${aheadMs > 0 ? 'ahead' : 'behind'} makes nobody ask while another does`, async () => {
    const world = makeWorld()
    world.adopted()
    await dieAsking(world)
    const process = world.process('b')
    process.clock.aheadMs = aheadMs
    assert.is((await process.claim()).kind, 'pending')
    world.pass(timeoutMs / 2)
    process.clock.aheadMs *= -1
    assert.is((await process.claim()).kind, 'pending')
    assert.is(world.sky.calls.reserve, 0)
  })
}

test('of several that take over at once one asks', async () => {
  const world = makeWorld()
  world.adopted()
  await dieAsking(world)
  const slow = { before: () => sleep(Math.random() * 5) }
  const processes = ['b', 'c', 'd'].map((identity) => world.process(identity, { kube: slow, sky: slow }))
  await Promise.all(processes.map((process) => process.claim()))
  world.pass(timeoutMs)
  await Promise.all(processes.map((process) => process.claim({ wait: true }, AbortSignal.timeout(3_000))))
  assert.is(world.sky.calls.reserve, 1)
})

test('a process that was frozen before it asked does not ask any more', async () => {
  const world = makeWorld()
  world.adopted()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'create' ? stopTheWorld(60) : undefined) }
  const claimed = await world.process('a', { kube: freeze, timeLimit: () => timeLimit(40) }).claim()
  assert.is(claimed.kind, 'pending')
  assert.is(world.sky.calls.reserve, 0)
})

test('nor does one whose list took all the time', async () => {
  const world = makeWorld()
  const freeze = { after: ({ verb }: { verb: string }) => (verb === 'reservations' ? stopTheWorld(60) : undefined) }
  assert.is((await world.process('a', { sky: freeze, timeLimit: () => timeLimit(40) }).claim()).kind, 'pending')
  assert.is(world.sky.calls.reserve, 0)
})

test('one that was frozen and gives up does not say so over the question of another', async () => {
  const world = makeWorld()
  world.adopted()
  const frozen = Promise.withResolvers<void>()
  const spent = new AbortController()
  const a = world.process('a', {
    sky: { before: () => frozen.promise },
    timeLimit: () => ({ signal: spent.signal, isOver: () => false }),
  })
  const first = a.claim()
  await sleep(5)
  const answer = Promise.withResolvers<void>()
  const slow = world.process('slow', {
    sky: { before: ({ verb }) => (verb === 'reserve' ? answer.promise : undefined) },
  })
  await slow.claim()
  world.pass(timeoutMs)
  const second = slow.claim()
  await sleep(5)
  spent.abort()
  frozen.resolve()
  assert.is((await first).kind, 'pending')
  assert.is((await world.process('c').claim()).kind, 'pending')
  answer.resolve()
  assert.is((await second).kind, 'held')
  assert.is(world.held().length, 1)
})

test('two that reserved all the same agree on one address, and the other is known for an orphan', async () => {
  const world = makeWorld()
  world.adopted()
  const late = Promise.withResolvers<void>()
  const first = world.process('a', { sky: { after: () => late.promise } }).claim()
  await sleep(5)
  const b = world.process('b', { sky: { before: ({ verb }) => void (world.sky.listsLate = verb === 'reserve') } })
  await b.claim()
  world.sky.put({ ...(world.sky.bought[0] as Reservation), marks: {} })
  world.pass(timeoutMs)
  const second = await b.claim()
  late.resolve()
  assert.is(second.kind === 'held' && second.address, '203.0.113.2')
  const answer = await first
  assert.is(answer.kind === 'held' && answer.address, '203.0.113.2')
  assert.is(world.record()?.status?.reservationID, 'res-2')
})

test('a record that nobody has asked for yet may be asked for at once', async () => {
  const world = makeWorld()
  const { status: _none, ...record } = makeRecord()
  world.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  assert.is((await world.process('a').claim()).kind, 'held')
  assert.equal(world.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'])
})

test('a reservation that was provisioned by hand is used, and what it is in is not asked twice', async () => {
  const world = makeWorld()
  await world.sky.cloud.reserve({ location: 'da', marks: {} }, neverAborted)
  const { status: _none, ...record } = makeRecord(undefined, { reservationID: 'res-1' })
  world.api.put(elasticIPs, { ...record, metadata: { name: 'default.web' } })
  const claimed = await world.process('a').claim({ location: 'sv' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.record()?.spec.location, 'da')
  assert.is(world.sky.calls.reserve, 1)
})

test('an unanswered record goes along with a claim for another location and another policy', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('unavailable')
  const process = world.process('a')
  await process.claim()
  await process.claim({ location: 'sv', reclaim: 'Retain' })
  assert.is(world.sky.bought[0]?.location, 'sv')
  assert.equal([world.record()?.spec.location, world.record()?.spec.reclaimPolicy], ['sv', 'Retain'])
})

test('a lost answer from the old location is used, and the record says where it is', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  world.sky.listsLate = true
  const process = world.process('a')
  await process.claim({ location: 'da' })
  await process.claim({ location: 'sv' })
  world.sky.settle()
  world.pass(timeoutMs)
  const claimed = await process.claim({ location: 'sv' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.record()?.spec.location, 'da')
})

test('a claim that is refused in the middle leaves no record that could go without us', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('quota')
  const cut = {
    before: ({ verb }: { verb: string }) => {
      if (verb === 'remove') throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
    },
  }
  const [cutOff] = await Promise.allSettled([world.process('a', { kube: cut }).claim()])
  assert.is(cutOff.status, 'rejected')
  const process = world.process('b')
  await process.claim()
  world.pass(timeoutMs)
  assert.is((await process.claim()).kind, 'held')
  assert.equal(world.record()?.metadata.finalizers, ['eip-admission.dev/reservation-cleanup'])
})

test('a fresh record that another has begun to use is not removed by the refusal of the first', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('quota')
  const removing = Promise.withResolvers<void>()
  const slow = { before: ({ verb }: { verb: string }) => (verb === 'remove' ? removing.promise : undefined) }
  const first = world.process('a', { kube: slow }).claim()
  await sleep(5)
  const b = world.process('b')
  await b.claim()
  world.pass(timeoutMs)
  const second = await b.claim()
  removing.resolve()
  await first
  assert.is(second.kind, 'held')
  assert.is(world.record()?.status?.address, '203.0.113.1')
  assert.is(world.record()?.metadata.deletionTimestamp, undefined)
})

/** Nothing of this process runs, its timers included. */
function stopTheWorld(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test.run()
