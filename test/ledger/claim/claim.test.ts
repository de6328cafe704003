import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../../ledger/claim/ask.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { makeReservation } from '../../builders.ts'
import { makeWorld, scheme } from '../harness.ts'

const marks = serviceMarks(scheme, 'default/web')
const crowd = (size: number) => Array.from<unknown>({ length: size })
const patient = () => [{ wait: true }, AbortSignal.timeout(5_000)] as const
const addresses = (claimed: ClaimResult[]) =>
  claimed.map((one) => (one.kind === 'held' ? one.address : one.kind)).join()

test('a new record needs one reserve and no list once the ledger knows every reservation', async () => {
  const world = makeWorld()
  world.adopted()
  const claimed = await world.process('a').claim()
  assert.equal([claimed.kind, claimed.kind === 'held' && claimed.address], ['held', '203.0.113.1'])
  assert.equal(world.sky.calls, { reserve: 1, reservations: 0, reservation: 0, release: 0 })
  assert.is(world.record()?.status?.phase, 'Reserved')
  assert.is(world.record()?.status?.reservationID, 'res-1')
  assert.is(world.record()?.status?.requestInFlight, undefined)
})

test('until then it lists before it reserves', async () => {
  const world = makeWorld()
  assert.is((await world.process('a').claim()).kind, 'held')
  assert.equal(world.sky.calls, { reserve: 1, reservations: 1, reservation: 0, release: 0 })
})

test('a reservation that carries our marks already is used', async () => {
  const world = makeWorld()
  world.sky.put(makeReservation({ id: 'res-9', address: '203.0.113.9', marks }))
  const claimed = await world.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.9')
  assert.is(world.sky.calls.reserve, 0)
})

test("of several it is the oldest, and never one that was denied or is another Service's", async () => {
  const world = makeWorld()
  world.sky.put(makeReservation({ id: 'res-6', marks, state: 'denied', createdAt: '2026-01-30T00:00:00Z' }))
  world.sky.put(makeReservation({ id: 'res-7', marks: serviceMarks(scheme, 'default/other') }))
  world.sky.put(makeReservation({ id: 'res-8', marks, createdAt: '2026-01-31T08:30:00Z' }))
  world.sky.put(makeReservation({ id: 'res-9', marks, createdAt: '2026-01-31T08:00:00Z' }))
  await world.process('a').claim()
  assert.is(world.record()?.status?.reservationID, 'res-9')
})

test('a Service that has an address gets it again, without a call to the cloud', async () => {
  const world = makeWorld()
  world.adopted()
  await world.process('a').claim()
  const claimed = await world.process('b').claim({ wait: true })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.sky.calls.reserve, 1)
})

for (const adopted of [true, false]) {
  const when = adopted ? '' : ' before the first sweep'
  test(`fifty claims of one Service at once reserve one address${when}`, async () => {
    const world = makeWorld()
    if (adopted) world.adopted()
    const process = world.process('a')
    const claimed = await Promise.all(crowd(50).map(() => process.claim(...patient())))
    assert.is(addresses(claimed), crowd(50).fill('203.0.113.1').join())
    assert.is(world.sky.calls.reserve, 1)
  })

  test(`and so do fifty-one that are spread over three processes${when}`, async () => {
    const world = makeWorld()
    if (adopted) world.adopted()
    const slow = { before: () => sleep(Math.random() * 20) }
    const processes = ['a', 'b', 'c'].map((identity) => world.process(identity, { kube: slow, sky: slow }))
    const crowds = processes.map((process) => Promise.all(crowd(17).map(() => process.claim(...patient()))))
    assert.is(addresses((await Promise.all(crowds)).flat()), crowd(51).fill('203.0.113.1').join())
    assert.is(world.sky.calls.reserve, 1)
  })
}

test('a claim in the moment between the record and the question waits for that question', async () => {
  const world = makeWorld()
  const reading = Promise.withResolvers<void>()
  const slowMark = {
    after: ({ verb, values }: { verb: string; values: unknown[] }) =>
      isMark(verb, values) ? reading.promise : undefined,
  }
  const process = world.process('a', { kube: slowMark })
  const first = process.claim()
  await sleep(5)
  const second = process.claim({ wait: true }, AbortSignal.timeout(2_000))
  await sleep(20)
  reading.resolve()
  assert.equal([(await first).kind, (await second).kind], ['held', 'held'])
  assert.is(world.sky.calls.reserve, 1)
})

test('an answer to the creation of the record that comes late does not lead to a second reserve', async () => {
  const world = makeWorld()
  world.adopted()
  const late = Promise.withResolvers<void>()
  let creations = 0
  const slowCreate = {
    after: ({ verb }: { verb: string }) => (verb === 'create' && ++creations === 1 ? late.promise : undefined),
  }
  const process = world.process('a', { kube: slowCreate })
  const first = process.claim()
  await sleep(5)
  const second = process.claim({ wait: true }, AbortSignal.timeout(2_000))
  await sleep(20)
  late.resolve()
  assert.equal([(await first).kind, (await second).kind], ['held', 'held'])
  assert.is(world.sky.calls.reserve, 1)
})

test('while another process is at it, a claim that does not wait says so at once', async () => {
  const world = makeWorld()
  world.adopted()
  const answer = Promise.withResolvers<void>()
  const slow = world.process('a', { sky: { before: () => answer.promise } }).claim()
  await sleep(5)
  assert.is((await world.process('b').claim()).kind, 'pending')
  answer.resolve()
  assert.is((await slow).kind, 'held')
})

test('and one that waits gets the address when the other has it', async () => {
  const world = makeWorld()
  world.adopted()
  const slow = world.process('a', { sky: { before: () => sleep(50) } }).claim()
  await sleep(5)
  const waited = await world.process('b').claim({ wait: true }, AbortSignal.timeout(2_000))
  assert.is(waited.kind === 'held' && waited.address, '203.0.113.1')
  await slow
  assert.is(world.sky.calls.reserve, 1)
})

test('when the deadline passes the claim is pending, and the answer still reaches the record', async () => {
  const world = makeWorld()
  world.adopted()
  const answer = Promise.withResolvers<void>()
  const process = world.process('a', { sky: { after: () => answer.promise } })
  const deadline = new AbortController()
  const claiming = process.claim({ wait: true }, deadline.signal)
  await sleep(5)
  deadline.abort()
  // The next look would be later still.
  const claimed = await Promise.race([claiming, sleep(50)])
  assert.is(claimed?.kind, 'pending', 'it answers at its deadline, not a look later')
  assert.is(world.record()?.status, undefined)
  answer.resolve()
  await process.claims.idle()
  assert.is(world.record()?.status?.address, '203.0.113.1')
  assert.is((await process.claim()).kind, 'held')
  assert.is(world.sky.calls.reserve, 1)
})

for (const fault of ['quota', 'auth', 'invalid'] as const) {
  test(`a refusal (${fault}) is said in the cloud's words, and leaves no fresh record`, async () => {
    const world = makeWorld()
    world.adopted()
    world.sky.fates.push(fault)
    const claimed = await world.process('a').claim()
    assert.is(claimed.kind === 'refused' && claimed.why, `the scripted cloud says ${fault}`)
    assert.is(world.record(), undefined)
  })
}

test('a refusal leaves a record that may stand for an answer that was lost, and the next claim may ask at once', async () => {
  const world = makeWorld()
  world.sky.fates.push('quota')
  const process = world.process('a')
  assert.is((await process.claim()).kind, 'refused')
  assert.is(world.record()?.status?.message, 'the scripted cloud says quota')
  assert.is((await world.process('b').claim()).kind, 'held')
})

for (const fault of ['rate-limit', 'conflict', 'unavailable'] as const) {
  test(`after a fault that passes (${fault}) the claim is pending, and may be made again at once`, async () => {
    const world = makeWorld()
    world.adopted()
    world.sky.fates.push(fault)
    assert.is((await world.process('a').claim()).kind, 'pending')
    assert.is(world.record()?.status?.message, `the scripted cloud says ${fault}`)
    assert.is((await world.process('b').claim()).kind, 'held')
    assert.is(world.held().length, 1)
  })
}

test('a cloud that cannot be read is asked for nothing', async () => {
  const world = makeWorld()
  world.sky.unreadable = true
  assert.is((await world.process('a').claim()).kind, 'pending')
  assert.is(world.sky.calls.reserve, 0)
})

test('an address that is granted late is pending until it is granted', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('requested')
  const process = world.process('a')
  assert.is((await process.claim()).kind, 'pending')
  assert.is((await process.claim()).kind, 'pending')
  world.sky.grant('res-1')
  const claimed = await world.process('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.sky.calls.reserve, 1)
})

test('one that is denied is refused, given back, and asked for anew the next time', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('requested')
  const process = world.process('a')
  await process.claim()
  world.sky.deny('res-1')
  assert.is((await process.claim()).kind, 'refused')
  assert.equal(world.held(), [])
  assert.is((await process.claim()).kind, 'held')
  assert.equal(world.held(), ['res-2'])
})

test('a request that a read by id does not show yet is found by its marks, not made twice', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('requested')
  const process = world.process('a')
  await process.claim()
  world.sky.idsLate = true
  assert.is((await process.claim()).kind, 'pending')
  assert.is(world.sky.calls.reserve, 1)
})

function isMark(verb: string, [resource]: unknown[]): boolean {
  return verb === 'get' && (resource as { kind: string }).kind === 'ConfigMap'
}

test.run()
