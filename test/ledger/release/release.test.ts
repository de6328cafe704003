import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Reservation } from '../../../clouds/ports/cloud.ts'
import type { CallOptions } from '../../../kube/client.ts'
import { KubeError, isConflict } from '../../../kube/errors.ts'
import { bind } from '../../../ledger/claim/stored-record.ts'
import { type ElasticIP, type Phase, elasticIPs, releaseRecordName } from '../../../ledger/record/elastic-ip.ts'
import { isRetained, serviceMarks } from '../../../ledger/record/marks.ts'
import { addressAnnotation } from '../../../ledger/record/names.ts'
import { postponeRelease, release, retain } from '../../../ledger/release/release.ts'
import { makeRecord, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { graceMs, makeHarness, neverAborted, scheme, terminating, timeoutMs, type Harness } from '../harness.ts'

async function reserved(): Promise<Harness> {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.alone('a').claim()
  return harness
}

/** An address to be retained, which a stored Service had, in a record that has lost its status. */
async function emptied(): Promise<{ harness: Harness; record: ElasticIP }> {
  const harness = await reserved()
  const { deps } = harness.alone('a')
  await bind(deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  const { status: _emptied, ...record } = harness.record() as ElasticIP
  return { harness, record: { ...record, spec: { ...record.spec, reclaimPolicy: 'Retain' } } }
}

test('the address of a deleted Service is released, and its record is removed last', async () => {
  const harness = await reserved()
  let recordAtRelease: ElasticIP | undefined
  const watch = {
    before: ({ verb }: { verb: string }) => void (verb === 'release' && (recordAtRelease = harness.record())),
  }
  assert.is(await harness.alone('b', { cloud: watch }).release(), 'released')
  assert.is(recordAtRelease?.status?.phase, 'Releasing')
  assert.is(recordAtRelease?.status?.deletionRequestedAt, '2026-01-31T09:00:00.000Z')
  assert.equal([harness.reservationsOf(), harness.record()], [[], undefined])
})

/** A record that is being deleted without a Service, and an API server that answers a trial create so. */
async function deletedRecord(reclaim: 'Retain' | 'Delete', answer?: KubeError) {
  const harness = makeHarness()
  await harness.alone('a').claim({ reclaim })
  const { metadata, ...record } = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, metadata: { ...metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } })
  const before = ({ verb }: HeardCall) => {
    if (verb === 'create' && answer) throw answer
  }
  const [released] = await Promise.allSettled([harness.alone('b', { kube: { before } }).release()])
  const left = harness.cloud.reserved().map(({ marks }) => isRetained(marks))
  return { released, left, record: harness.record() }
}

for (const [what, reclaim, answer, left] of [
  ['a retained address stays where all records are deleted with their definition', 'Retain', terminating, [true]],
  ['a retained address goes where a person deletes its record', 'Retain', undefined, []],
  ['any other goes, also where all records are deleted', 'Delete', terminating, []],
] as const)
  test(what, async () => {
    const found = await deletedRecord(reclaim, answer)
    assert.equal(found, { released: { status: 'fulfilled', value: 'released' }, left, record: undefined })
  })

test('a retained address is released if a policy refuses the trial record', async () => {
  const answer = new KubeError('admission webhook "names.example.org" denied the request', {
    status: 403,
    reason: 'Forbidden',
  })
  const { left, record } = await deletedRecord('Retain', answer)
  assert.equal([left, record], [[], undefined])
})

for (const status of [0, 401, 403, 429, 500])
  test(`a retained address waits while nobody knows what is deleted (${status})`, async () => {
    const answer = new KubeError('no answer', { status, reason: 'Unreachable' })
    const { released, left, record } = await deletedRecord('Retain', answer)
    assert.equal([released.status, left, record?.status?.phase], ['rejected', [false], 'Reserved'])
  })

test('an address that its Service wants after all is kept', async () => {
  const harness = await reserved()
  harness.addService(makeService())
  assert.is(await harness.alone('b').release(), 'kept')
  assert.is(harness.record()?.status?.phase, 'Reserved')
  await bind(harness.alone('b').deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  assert.is(await harness.alone('b').release(), 'kept')
  assert.is(harness.record()?.status?.phase, 'Bound')
  assert.is(harness.cloud.calls.release, 0)
})

test('an address whose deletion was requested is not kept, although its Service wants it', async () => {
  const harness = await reserved()
  harness.cloud.refusesRelease = 'unavailable'
  const [cut] = await Promise.allSettled([harness.alone('b').release()])
  assert.is(cut.status, 'rejected')
  harness.cloud.refusesRelease = undefined
  harness.addService(makeService())
  assert.is(await harness.alone('c').release(), 'released')
  assert.equal(harness.reservationsOf(), [])
})

test('a deletion that is tried again keeps the time at which it was first requested', async () => {
  const harness = await reserved()
  harness.cloud.refusesRelease = 'unavailable'
  for (const identity of ['b', 'c']) {
    await harness
      .alone(identity)
      .release()
      .catch(() => undefined)
    assert.is(harness.record()?.status?.deletionRequestedAt, '2026-01-31T09:00:00.000Z')
    harness.advance(60_000)
  }
})

test('a reservation that the provider deleted without an answer is done with, although its address has a new holder', async () => {
  const harness = await reserved()
  const silent = {
    after: ({ verb }: HeardCall) => {
      if (verb === 'release') throw new CloudError('500', { fault: 'unavailable', outcome: 'unknown' })
    },
  }
  const [cut] = await Promise.allSettled([harness.alone('b', { cloud: silent }).release()])
  assert.is(cut.status, 'rejected')
  const { address } = harness.record()?.status ?? {}
  harness.cloud.put(makeReservation({ id: 'res-next', address: address ?? '' }))
  harness.addService(makeService({ name: 'next', ...(address && { loadBalancerIP: address }) }))
  assert.is(await harness.alone('c').release(), 'released')
  assert.is(harness.record(), undefined)
  assert.equal(
    harness.cloud.reserved().map(({ id }) => id),
    ['res-next'],
  )
})

/** A release whose DELETE has no answer. The provider has deleted the reservation, and gives its id to the next order. */
async function withLostDeletion() {
  const harness = await reserved()
  harness.cloud.recycles = true
  const silent = {
    after: ({ verb }: HeardCall) => {
      if (verb === 'release') throw new CloudError('500', { fault: 'unavailable', outcome: 'unknown' })
    },
  }
  await Promise.allSettled([harness.alone('b', { cloud: silent }).release()])
  return harness
}

test('a reservation that the provider deleted without an answer, and whose id it gave to another Service, stays there', async () => {
  const harness = await withLostDeletion()
  assert.is(harness.record()?.status?.phase, 'Releasing')
  const c = harness.alone('c')
  const next = await c.claim({ key: 'default/next' })
  assert.is(next.kind === 'held' && next.record.status?.reservationID, 'res-1')
  const address = next.kind === 'held' ? next.address : ''
  harness.addService(
    makeService({ name: 'next', loadBalancerIP: address, annotations: { [addressAnnotation]: address } }),
  )
  assert.is(await c.release(), 'released')
  assert.is(harness.record(), undefined)
  assert.equal(harness.reservationsOf('default/next'), ['res-1'])
})

test('a deletion that is tried again leaves the id alone if the next Service gets it right after the look', async () => {
  const harness = await withLostDeletion()
  const [webhook, looks] = [harness.alone('c'), { after: async (_call: HeardCall) => {} }]
  looks.after = async ({ verb }) => {
    if (verb !== 'reservation') return
    looks.after = async () => {}
    assert.is((await webhook.claim({ key: 'default/next' })).kind, 'held')
  }
  const leader = harness.alone('d', { cloud: looks })
  await Promise.allSettled([leader.release()])
  assert.equal(harness.reservationsOf('default/next'), ['res-1'])
  await leader.sweep(neverAborted)
  assert.equal(
    harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.next'],
  )
})

test('a deleted Service that shares a reservation leaves it to the other one', async () => {
  const harness = makeHarness()
  const status = { phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' } as const
  harness.cloud.put(makeReservation({ id: 'res-9', address: status.address }))
  for (const name of ['web', 'other']) {
    const { metadata, ...record } = makeRecord(status, { claimRef: { namespace: 'default', name, uid: name } })
    harness.api.put(elasticIPs, { ...record, metadata: { ...metadata, name: `default.${name}`, uid: name } })
  }
  const ingress = { loadBalancer: { ingress: [{ ip: status.address }] } }
  harness.addService(makeService({ name: 'other', uid: 'other', status: ingress }))
  const leader = harness.alone('a', { findAnnouncement: () => ({ services: ['default/other'] }) })
  await leader.reconcile('default/web')
  assert.is(harness.record(), undefined)
  assert.is(harness.record('default/other')?.status?.phase, 'Bound')
  assert.equal(harness.cloud.released, [])
})

test('a record whose status somebody emptied gets its address again, and the network forgets it before its deletion', async () => {
  const harness = await reserved()
  const { status: _emptied, ...record } = harness.record() as ElasticIP
  harness.api.put(elasticIPs, record)
  let isAnnounced = true
  const findAnnouncement = (address: string) =>
    isAnnounced && address === '203.0.113.1' ? { services: [] } : undefined
  const leader = harness.alone('b', { findAnnouncement })
  assert.is(await leader.release(), 'request-in-flight')
  harness.advance(timeoutMs)
  assert.is(await leader.release(), 'found')
  const { phase, address, reservationID } = harness.record()?.status ?? {}
  assert.equal([phase, address, reservationID], ['Releasing', '203.0.113.1', 'res-1'])
  await leader.reconcile('default/web')
  assert.equal(harness.cloud.released, [])
  isAnnounced = false
  await leader.reconcile('default/web')
  assert.equal([harness.cloud.released, harness.record()], [['res-1'], undefined])
})

test('a release record without a request deletes nothing: a Service that wants the address keeps it', async () => {
  const harness = await reserved()
  harness.addService(makeService())
  const { metadata, status } = harness.record() as ElasticIP
  harness.api.drop(elasticIPs, metadata)
  const name = releaseRecordName('res-1')
  const { spec, ...record } = makeRecord({ ...status, phase: 'Releasing' }, { reservationID: 'res-1' })
  const { claimRef: _none, ...ofRelease } = spec
  harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, name, uid: 'uid-2' }, spec: ofRelease })
  await harness.alone('b').sweep(neverAborted)
  assert.equal(harness.reservationsOf(), ['res-1'])
  assert.equal(
    harness.api.stored(elasticIPs).some((one) => one.metadata.name === name),
    false,
  )
})

test('a deletion that was begun is over once another Service has the id, or orders it', async () => {
  const harness = await reserved()
  Object.assign(harness.cloud, { recycles: true, deletesLate: true })
  const b = harness.alone('b')
  assert.is(await b.release(), 'released')
  harness.cloud.settle()
  const sweepDuring = {
    after: async ({ verb }: HeardCall) => void (verb === 'reserve' && (await b.sweep(neverAborted))),
  }
  const next = await harness.alone('c', { cloud: sweepDuring }).claim({ key: 'default/next' })
  assert.is(next.kind === 'held' && next.record.status?.reservationID, 'res-1')
  assert.equal(harness.reservationsOf('default/next'), ['res-1'])
  await b.sweep(neverAborted)
  assert.equal(
    harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.next'],
  )
  assert.equal(harness.reservationsOf('default/next'), ['res-1'])
})

test('it also ends if the other Service is deleted meanwhile, and its address must stay for now', async () => {
  const harness = await reserved()
  Object.assign(harness.cloud, { recycles: true, deletesLate: true })
  const b = harness.alone('b')
  await b.release()
  harness.cloud.settle()
  await b.claim({ key: 'default/next' })
  const record = harness.record('default/next') as ElasticIP
  await postponeRelease(b.deps, { record, reason: 'routers know it still' }, neverAborted)
  await b.sweep(neverAborted)
  assert.equal(harness.reservationsOf('default/next'), ['res-1'])
  assert.equal(
    harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.next'],
  )
})

test("it also ends once another cluster has the id, and that cluster's address stays", async () => {
  const harness = await reserved()
  harness.cloud.deletesLate = true
  const b = harness.alone('b')
  await b.release()
  harness.cloud.settle()
  harness.cloud.put(
    makeReservation({ id: 'res-1', marks: serviceMarks({ ...scheme, cluster: 'other' }, 'default/web') }),
  )
  await b.sweep(neverAborted)
  assert.equal([harness.api.stored(elasticIPs), harness.cloud.released], [[], ['res-1']])
})

test('a release does not wait for a cloud that still lists the reservation, and no Service gets the address again', async () => {
  const harness = await reserved()
  harness.cloud.deletesLate = true
  const b = harness.alone('b')
  assert.is(await b.release(), 'released')
  const [returning, ...others] = harness.api.stored(elasticIPs)
  assert.equal([returning?.status?.phase, returning?.status?.address, others], ['Releasing', '203.0.113.1', []])
  harness.addService(makeService())
  await b.sweep(neverAborted)
  await b.sweep(neverAborted)
  assert.is(harness.record(), undefined, 'it was not adopted')
  const claimed = await b.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
  harness.cloud.settle()
  await b.sweep(neverAborted)
  assert.equal(
    harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.web'],
  )
  assert.equal(harness.reservationsOf(), ['res-2'])
})

test('a record stays as long as nothing else says that its reservation is being deleted', async () => {
  const harness = await reserved()
  harness.cloud.deletesLate = true
  const { metadata } = makeRecord()
  const name = releaseRecordName('res-1')
  harness.api.put(elasticIPs, { ...makeRecord(), metadata: { ...metadata, name } })
  // The sweep that has made it finds that the reservation has a record.
  const before = ({ verb, values: [, at] }: HeardCall) => {
    if (verb === 'get' && (at as { name: string }).name === name) harness.api.drop(elasticIPs, { name })
  }
  const released = harness.alone('b', { kube: { before } }).release()
  assert.ok(isConflict(await released.catch((error: unknown) => error)))
  assert.is(harness.record()?.status?.phase, 'Releasing')
  assert.is(await harness.alone('b').release(), 'released')
  assert.equal(
    harness.api.stored(elasticIPs).map((one) => one.metadata.name),
    [name],
  )
})

test('a reservation that a release found by its marks is not adopted while the provider still lists it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  harness.cloud.listsLate = true
  const b = harness.alone('b')
  await b.claim()
  harness.cloud.settle()
  await b.release()
  harness.advance(timeoutMs)
  harness.cloud.deletesLate = true
  assert.is(await b.release(), 'found')
  assert.is(await b.release(), 'released')
  assert.equal(harness.cloud.released, ['res-1'])
  harness.addService(makeService())
  await b.sweep(neverAborted)
  assert.is(harness.record(), undefined)
})

test('a process that dies while it writes a release record leaves no reservation that could be used again', async () => {
  let isDone = false
  for (let nth = 1; !isDone; nth += 1) {
    const harness = await reserved()
    harness.cloud.deletesLate = true
    let calls = 0
    const cut = {
      before: () => {
        calls += 1
        if (calls >= nth) throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
      },
    }
    const [released] = await Promise.allSettled([harness.alone('b', { kube: cut }).release()])
    isDone = released.status === 'fulfilled'
    assert.ok(isDone === calls < nth)
    const c = harness.alone('c')
    await c.sweep(neverAborted)
    if (harness.record()) assert.is(await c.release(), 'released')
    harness.addService(makeService())
    await c.sweep(neverAborted)
    const claimed = await c.claim()
    assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2', `call ${nth}`)
  }
})

test('the release of a record whose answer was lost deletes the reservation with its marks', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('lost')
  harness.cloud.listsLate = true
  const b = harness.alone('b')
  await b.claim()
  harness.cloud.settle()
  assert.is(await b.release(), 'request-in-flight')
  assert.is(harness.record()?.status?.phase, 'Requested')
  harness.advance(timeoutMs)
  assert.is(await b.release(), 'found')
  assert.is(await b.release(), 'released')
  assert.equal([harness.reservationsOf(), harness.record()], [[], undefined])
})

test('every call of a release ends with the signal of its caller', async () => {
  const harness = await reserved()
  const signals = new Set<unknown>()
  const { signal } = new AbortController()
  const listen = { before: ({ values }: HeardCall) => void signals.add((values.at(-1) as CallOptions).signal) }
  const { deps } = harness.alone('b', { kube: listen })
  await release(deps, { record: harness.record() as ElasticIP }, signal)
  assert.equal([...signals], [signal])
})

for (const same of [true, false]) {
  test(`a record with a request in flight from ${same ? 'this' : 'another'} process is not released`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const answer = Promise.withResolvers<void>()
    const slow = harness.alone('a', {
      cloud: { before: ({ verb }) => (verb === 'reserve' ? answer.promise : undefined) },
    })
    const claiming = slow.claim()
    await sleep(5)
    assert.is(await (same ? slow : harness.alone('b')).release(), 'request-in-flight')
    answer.resolve()
    assert.is((await claiming).kind, 'held')
    assert.is(await harness.alone('b').release(), 'released')
    assert.equal(harness.reservationsOf(), [])
  })
}

test('a reservation that is granted during the release is deleted with its record', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.listsLate = true
  const late = Promise.withResolvers<void>()
  const claiming = harness.alone('a', { cloud: { after: () => late.promise } }).claim()
  await sleep(5)
  const cutBeforeRemoval = {
    before: ({ verb, values }: HeardCall) => {
      if (verb === 'replace' && takesFinalizerOff(values)) throw new KubeError('cut', { status: 0, reason: 'Timeout' })
    },
  }
  const b = harness.alone('b', { kube: cutBeforeRemoval })
  await b.release()
  harness.advance(timeoutMs)
  await Promise.allSettled([b.release()])
  assert.ok(harness.record()?.status?.deletionRequestedAt)
  late.resolve()
  assert.is((await claiming).kind, 'pending')
  assert.equal([harness.record()?.status?.phase, harness.record()?.status?.reservationID], ['Releasing', 'res-1'])
  assert.is(await harness.alone('c').release(), 'released')
  assert.equal([harness.reservationsOf(), harness.record()], [[], undefined])
})

test('a Service that is created again before the deletion gets its address again', async () => {
  const harness = await reserved()
  const looking = Promise.withResolvers<void>()
  const slow = { after: ({ values }: { values: unknown[] }) => (isService(values) ? looking.promise : undefined) }
  const releasing = harness.alone('b', { kube: slow }).release()
  await sleep(5)
  assert.is(harness.record()?.status?.phase, 'Releasing')
  const claimed = await harness.alone('c').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  looking.resolve()
  const [released] = await Promise.allSettled([releasing])
  assert.ok(released.status === 'rejected' && isConflict(released.reason))
  assert.equal(harness.reservationsOf(), ['res-1'])
})

for (const isShown of [false, true]) {
  const as = isShown ? 'with' : 'without'
  test(`a Service that is created again, ${as} our annotation, keeps an address whose release has only read it`, async () => {
    const harness = await reserved()
    const { deps } = harness.alone('b')
    await bind(deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
    const read = harness.record() as ElasticIP
    const claimed = await harness.alone('c').claim({ isShown, wait: true })
    assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
    const [released] = await Promise.allSettled([release(deps, { record: read }, neverAborted)])
    assert.ok(released.status === 'rejected' && isConflict(released.reason))
    assert.equal([harness.record()?.status?.phase, harness.cloud.released], ['Reserved', []])
  })
}

test('a stored Service whose address is bound gets it without a write', async () => {
  const harness = await reserved()
  const { deps } = harness.alone('b')
  await bind(deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  const before = harness.record()
  const claimed = await harness.alone('c').claim({ isShown: true })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.equal(harness.record(), before)
})

for (const isDeleted of [false, true]) {
  const is = isDeleted ? 'is released where a person deletes the record' : 'is retained'
  test(`an address to be retained whose record has lost its status ${is}`, async () => {
    const { harness, record } = await emptied()
    const metadata = { ...record.metadata, ...(isDeleted && { deletionTimestamp: '2026-01-31T09:00:00Z' }) }
    harness.api.put(elasticIPs, { ...record, metadata })
    const b = harness.alone('b')
    assert.is(await b.release(), 'request-in-flight')
    harness.advance(timeoutMs)
    await b.release()
    await b.reconcile('default/web')
    const { phase, address } = harness.record()?.status ?? {}
    const expected = isDeleted ? [undefined, undefined, ['res-1']] : ['Released', '203.0.113.1', []]
    assert.equal([phase, address, harness.cloud.released], expected)
  })
}

for (const isSwept of [false, true])
  test(`an order whose answer was lost is not retained for a Service that is never stored${isSwept ? ', adopted or not' : ''}`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    harness.cloud.fates = ['lost']
    harness.cloud.unreadable = true
    const a = harness.alone('a')
    await Promise.allSettled([a.claim({ reclaim: 'Retain' })])
    harness.cloud.unreadable = false
    const { spec, status } = harness.record() ?? {}
    assert.equal([spec?.reclaimPolicy, status?.address, harness.reservationsOf()], ['Retain', undefined, ['res-1']])
    for (let round = 0; round < 5; round += 1) {
      if (isSwept) await a.sweep(neverAborted)
      harness.advance(graceMs + timeoutMs)
      await a.reconcile('default/web')
    }
    assert.equal([harness.record(), harness.cloud.released], [undefined, ['res-1']])
  })

for (const nth of [1, 2, 3, 4])
  test(`an address to be retained whose record has lost its status stays where the process dies at write ${nth}`, async () => {
    const { harness, record } = await emptied()
    harness.api.put(elasticIPs, record)
    let left = Infinity
    const dies = ({ verb }: HeardCall) => {
      if (verb.startsWith('replace') && (left -= 1) < 0) throw new KubeError('cut', { status: 0, reason: 'Timeout' })
    }
    const b = harness.alone('b', { kube: { before: dies } })
    assert.is(await b.release(), 'request-in-flight')
    harness.advance(timeoutMs)
    left = nth - 1
    const [cut] = await Promise.allSettled([b.release()])
    assert.is(cut.status, 'rejected')
    const next = harness.alone('next')
    for (let n = 0; n < 3; n += 1) {
      await next.reconcile('default/web')
      harness.advance(graceMs + 1_000)
    }
    const { phase, address } = harness.record()?.status ?? {}
    assert.equal([phase, address, harness.cloud.released], ['Released', '203.0.113.1', []])
  })

test('a Service that is created again after the deletion gets another address, although the provider still lists the first', async () => {
  const harness = await reserved()
  harness.cloud.deletesLate = true
  await harness.alone('b').release()
  const claimed = await harness.alone('c').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
})

test('the next Service of that name gets a retained address, or is refused if it requests another location', async () => {
  const harness = await reserved()
  const a = harness.alone('a')
  await bind(a.deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  await retain(a.deps, harness.record() as ElasticIP, neverAborted)
  const elsewhere = await a.claim({ location: 'sv' })
  assert.match(
    elsewhere.kind === 'refused' ? elsewhere.reason : '',
    '203.0.113.1 is kept for it in da, but it requests one in sv; change that to da, or release the address: `kubectl delete eip',
  )
  const claimed = await a.claim({ location: 'da' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.equal([harness.record()?.status?.phase, harness.record()?.spec.location], ['Reserved', 'da'])
  assert.is(harness.cloud.calls.reserve, 1)
})

test('bind and retain change the uid before the phase', async () => {
  const harness = await reserved()
  const seen: string[] = []
  const note = () => {
    const { spec, status } = harness.record() as ElasticIP
    seen.push(`${status?.phase} ${spec.claimRef?.uid}`)
  }
  const { deps } = harness.alone('a', { kube: { after: note } })
  await bind(deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  await retain(deps, harness.record() as ElasticIP, neverAborted)
  assert.equal(seen, ['Reserved uid-1', 'Bound uid-1', 'Bound undefined', 'Released undefined'])
})

for (const phase of ['Requested', 'Reserved', 'Bound', 'Released'] satisfies Phase[]) {
  test(`a record that a user deleted (${phase}) serves its Service until the release`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const a = harness.alone('a')
    harness.cloud.fates.push(phase === 'Requested' ? 'unavailable' : 'reserved')
    await a.claim()
    if (phase === 'Bound' || phase === 'Released')
      await bind(a.deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
    if (phase === 'Released') await retain(a.deps, harness.record() as ElasticIP, neverAborted)
    assert.is(harness.record()?.status?.phase, phase)
    await harness.api.client.remove(elasticIPs, { name: 'default.web' })
    assert.ok(harness.record()?.metadata.deletionTimestamp)
    assert.is((await a.claim()).kind, 'held')
    assert.is(harness.cloud.bought.length, 1)
    assert.is(await a.release(), 'released')
    assert.equal([harness.reservationsOf(), harness.record()], [[], undefined])
  })
}

test('a record that a user deleted during its release is removed, and the next claim reserves again', async () => {
  const harness = await reserved()
  harness.cloud.refusesRelease = 'unavailable'
  const b = harness.alone('b')
  await Promise.allSettled([b.release()])
  await harness.api.client.remove(elasticIPs, { name: 'default.web' })
  assert.is((await b.claim()).kind, 'busy')
  harness.cloud.refusesRelease = undefined
  assert.is(await b.release(), 'released')
  assert.is((await b.claim()).kind, 'held')
  assert.equal(harness.reservationsOf(), ['res-2'])
})

test('a deleted record that only a foreign finalizer keeps is not used', async () => {
  const harness = makeHarness()
  const record = makeRecord({ phase: 'Requested' })
  const leaving = { deletionTimestamp: '2026-01-31T08:59:00Z', finalizers: ['foregroundDeletion'] }
  harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, ...leaving } })
  assert.is((await harness.alone('a').claim()).kind, 'busy')
  assert.is(harness.cloud.calls.reserve, 0)
})

function takesFinalizerOff([, object]: unknown[]): boolean {
  return (object as ElasticIP).metadata.finalizers?.length === 0
}

function isService([resource]: unknown[]): boolean {
  return (resource as { kind: string }).kind === 'Service'
}

/** Releases an address that a machine has, by a process that can take it from there, with these marks of a cluster. */
async function releaseAssigned({ cluster = scheme.cluster }: { cluster?: string } = {}) {
  const harness = await reserved()
  const [id = ''] = harness.reservationsOf()
  const [found] = harness.cloud.reserved({}).filter((one) => one.id === id)
  if (!found) throw new Error('it is reserved')
  const { service = '' } = found.marks
  harness.cloud.put({ ...found, holder: 'a machine', marks: { usage: scheme.usage, cluster, service } })
  const freed: [string, string | undefined][] = []
  const unassign = (asked: Reservation) => {
    freed.push([asked.id, harness.record()?.status?.deletionRequestedAt])
    return Promise.resolve()
  }
  const result = await release(
    { ...harness.alone('b').deps, unassign },
    { record: harness.record() as ElasticIP },
    neverAborted,
  )
  return { id, freed, result, harness }
}

test('an address that a machine still has is taken from it when no Service can get it any more, and then released', async () => {
  const { id, freed, result, harness } = await releaseAssigned()
  assert.equal([result, freed], ['released', [[id, '2026-01-31T09:00:00.000Z']]])
  assert.equal(harness.reservationsOf(), [])
})

test("another cluster's address stays on its machine", async () => {
  const { freed, harness } = await releaseAssigned({ cluster: 'other' })
  assert.equal([freed, harness.record(), harness.cloud.calls.release], [[], undefined, 0])
})

test.run()
