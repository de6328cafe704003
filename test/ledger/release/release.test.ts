import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError, isConflict } from '../../../kube/errors.ts'
import { bind } from '../../../ledger/claim/bind.ts'
import { type ElasticIP, type Phase, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { retain } from '../../../ledger/release/release.ts'
import { makeRecord, makeService } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { makeWorld, neverAborted, timeoutMs, type World } from '../harness.ts'

async function reserved(): Promise<World> {
  const world = makeWorld()
  world.adopted()
  await world.process('a').claim()
  return world
}

test('the address of a Service that is gone goes back, and its record goes last', async () => {
  const world = await reserved()
  let recordAtRelease: ElasticIP | undefined
  const watch = {
    before: ({ verb }: { verb: string }) => void (verb === 'release' && (recordAtRelease = world.record())),
  }
  assert.is(await world.process('b', { sky: watch }).release(), 'gone')
  assert.is(recordAtRelease?.status?.phase, 'Releasing')
  assert.is(recordAtRelease?.status?.deletionRequestedAt, '2026-01-31T09:00:00.000Z')
  assert.equal([world.held(), world.record()], [[], undefined])
})

test('what its Service wants after all is kept', async () => {
  const world = await reserved()
  world.addService(makeService())
  assert.is(await world.process('b').release(), 'kept')
  assert.is(world.record()?.status?.phase, 'Reserved')
  await bind(world.process('b').deps, world.record() as ElasticIP, 'uid-1')
  assert.is(await world.process('b').release(), 'kept')
  assert.is(world.record()?.status?.phase, 'Bound')
  assert.is(world.sky.calls.release, 0)
})

test('what was returned already is not kept, whoever wants it', async () => {
  const world = await reserved()
  world.sky.refusesRelease = 'unavailable'
  const [cut] = await Promise.allSettled([world.process('b').release()])
  assert.is(cut.status, 'rejected')
  world.sky.refusesRelease = undefined
  world.addService(makeService())
  assert.is(await world.process('c').release(), 'gone')
  assert.equal(world.held(), [])
})

test('a Service does not wait for a cloud that lists what it deletes, and nobody gets the address again', async () => {
  const world = await reserved()
  world.sky.deletesLate = true
  const b = world.process('b')
  assert.is(await b.release(), 'gone')
  const [returning, ...others] = world.api.stored(elasticIPs)
  assert.equal([returning?.status?.phase, returning?.status?.address, others], ['Releasing', '203.0.113.1', []])
  world.addService(makeService())
  await b.sweep(neverAborted)
  await b.sweep(neverAborted)
  assert.is(world.record(), undefined, 'it was not adopted')
  const claimed = await b.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
  world.sky.settle()
  await b.sweep(neverAborted)
  assert.equal(
    world.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.web'],
  )
  assert.equal(world.held(), ['res-2'])
})

test('nor is it adopted again where the record had never heard of its reservation', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  world.sky.listsLate = true
  const b = world.process('b')
  await b.claim()
  world.sky.settle()
  await b.release()
  world.pass(timeoutMs)
  world.sky.deletesLate = true
  assert.is(await b.release(), 'gone')
  assert.equal(world.sky.released, ['res-1'])
  world.addService(makeService())
  await b.sweep(neverAborted)
  assert.is(world.record(), undefined)
})

test('whoever dies while a record makes way for what is still being deleted leaves nothing to be taken again', async () => {
  let isDone = false
  for (let nth = 1; !isDone; nth += 1) {
    const world = await reserved()
    world.sky.deletesLate = true
    let calls = 0
    const cut = {
      before: () => {
        calls += 1
        if (calls >= nth) throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
      },
    }
    const [released] = await Promise.allSettled([world.process('b', { kube: cut }).release()])
    isDone = released.status === 'fulfilled'
    assert.ok(isDone === calls < nth)
    const c = world.process('c')
    await c.sweep(neverAborted)
    if (world.record()) assert.is(await c.release(), 'gone')
    world.addService(makeService())
    await c.sweep(neverAborted)
    const claimed = await c.claim()
    assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2', `call ${nth}`)
  }
})

test('a record whose answer was lost gives back what carries its marks', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.fates.push('lost')
  world.sky.listsLate = true
  const b = world.process('b')
  await b.claim()
  world.sky.settle()
  assert.is(await b.release(), 'going')
  assert.is(world.record()?.status?.phase, 'Requested')
  world.pass(timeoutMs)
  assert.is(await b.release(), 'gone')
  assert.equal([world.held(), world.record()], [[], undefined])
})

for (const same of [true, false]) {
  test(`a record that ${same ? 'this' : 'another'} process is asking for is not taken from under it`, async () => {
    const world = makeWorld()
    world.adopted()
    const answer = Promise.withResolvers<void>()
    const slow = world.process('a', {
      sky: { before: ({ verb }) => (verb === 'reserve' ? answer.promise : undefined) },
    })
    const claiming = slow.claim()
    await sleep(5)
    assert.is(await (same ? slow : world.process('b')).release(), 'going')
    answer.resolve()
    assert.is((await claiming).kind, 'held')
    assert.is(await world.process('b').release(), 'gone')
    assert.equal(world.held(), [])
  })
}

test('an answer that comes when the record is on its way back is given back with it', async () => {
  const world = makeWorld()
  world.adopted()
  world.sky.listsLate = true
  const late = Promise.withResolvers<void>()
  const claiming = world.process('a', { sky: { after: () => late.promise } }).claim()
  await sleep(5)
  const cutBeforeRemoval = {
    before: ({ verb, values }: HeardCall) => {
      if (verb === 'replace' && values[2] === undefined) throw new KubeError('cut', { status: 0, reason: 'Timeout' })
    },
  }
  const b = world.process('b', { kube: cutBeforeRemoval })
  await b.release()
  world.pass(timeoutMs)
  await Promise.allSettled([b.release()])
  assert.ok(world.record()?.status?.deletionRequestedAt)
  late.resolve()
  assert.is((await claiming).kind, 'pending')
  assert.equal([world.record()?.status?.phase, world.record()?.status?.reservationID], ['Releasing', 'res-1'])
  assert.is(await world.process('c').release(), 'gone')
  assert.equal([world.held(), world.record()], [[], undefined])
})

test('a Service that comes back in time takes its address back', async () => {
  const world = await reserved()
  const looking = Promise.withResolvers<void>()
  const slow = { after: ({ values }: { values: unknown[] }) => (isService(values) ? looking.promise : undefined) }
  const releasing = world.process('b', { kube: slow }).release()
  await sleep(5)
  assert.is(world.record()?.status?.phase, 'Releasing')
  const claimed = await world.process('c').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  looking.resolve()
  const [released] = await Promise.allSettled([releasing])
  assert.ok(released.status === 'rejected' && isConflict(released.reason))
  assert.equal(world.held(), ['res-1'])
})

test('one that comes too late gets another, although the cloud still lists the first', async () => {
  const world = await reserved()
  world.sky.deletesLate = true
  await world.process('b').release()
  const claimed = await world.process('c').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
})

test('a kept address is given to the next Service of that name, and refused where that one wants another place', async () => {
  const world = await reserved()
  const a = world.process('a')
  await bind(a.deps, world.record() as ElasticIP, 'uid-1')
  await retain(a.deps, world.record() as ElasticIP)
  const elsewhere = await a.claim({ location: 'sv' })
  assert.match(
    elsewhere.kind === 'refused' ? elsewhere.why : '',
    '203.0.113.1 is kept for it in da, and it is to have one in sv; change that to da, or give the address back: kubectl delete eip',
  )
  const claimed = await a.claim({ location: 'da' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.equal([world.record()?.status?.phase, world.record()?.spec.location], ['Reserved', 'da'])
  assert.is(world.sky.calls.reserve, 1)
})

test('the uid goes on before the phase, and off before the phase', async () => {
  const world = await reserved()
  const seen: string[] = []
  const note = () => {
    const { spec, status } = world.record() as ElasticIP
    seen.push(`${status?.phase} ${spec.claimRef?.uid}`)
  }
  const { deps } = world.process('a', { kube: { after: note } })
  await bind(deps, world.record() as ElasticIP, 'uid-1')
  await retain(deps, world.record() as ElasticIP)
  assert.equal(seen, ['Reserved uid-1', 'Bound uid-1', 'Bound undefined', 'Released undefined'])
})

for (const phase of ['Requested', 'Reserved', 'Bound', 'Released'] satisfies Phase[]) {
  test(`a record that a person deleted (${phase}) serves its Service until it lets go, and then goes`, async () => {
    const world = makeWorld()
    world.adopted()
    const a = world.process('a')
    world.sky.fates.push(phase === 'Requested' ? 'unavailable' : 'reserved')
    await a.claim()
    if (phase === 'Bound' || phase === 'Released') await bind(a.deps, world.record() as ElasticIP, 'uid-1')
    if (phase === 'Released') await retain(a.deps, world.record() as ElasticIP)
    assert.is(world.record()?.status?.phase, phase)
    await world.api.client.remove(elasticIPs, { name: 'default.web' })
    assert.ok(world.record()?.metadata.deletionTimestamp)
    assert.is((await a.claim()).kind, 'held')
    assert.is(world.sky.bought.length, 1)
    assert.is(await a.release(), 'gone')
    assert.equal([world.held(), world.record()], [[], undefined])
  })
}

test('a record that a person deleted on its way back goes, and the next claim reserves anew', async () => {
  const world = await reserved()
  world.sky.refusesRelease = 'unavailable'
  const b = world.process('b')
  await Promise.allSettled([b.release()])
  await world.api.client.remove(elasticIPs, { name: 'default.web' })
  assert.is((await b.claim()).kind, 'pending')
  world.sky.refusesRelease = undefined
  assert.is(await b.release(), 'gone')
  assert.is((await b.claim()).kind, 'held')
  assert.equal(world.held(), ['res-2'])
})

test('a record that only somebody else still holds back is not used any more', async () => {
  const world = makeWorld()
  const record = makeRecord({ phase: 'Requested' })
  const leaving = { deletionTimestamp: '2026-01-31T08:59:00Z', finalizers: ['foregroundDeletion'] }
  world.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, ...leaving } })
  assert.is((await world.process('a').claim()).kind, 'pending')
  assert.is(world.sky.calls.reserve, 0)
})

function isService([resource]: unknown[]): boolean {
  return (resource as { kind: string }).kind === 'Service'
}

test.run()
