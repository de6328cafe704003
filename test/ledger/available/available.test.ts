import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../../kube/errors.ts'
import { provisionedCheck } from '../../../ledger/available/provision.ts'
import { transferWarm } from '../../../ledger/available/claim-source.ts'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks, sourceMarks } from '../../../ledger/record/marks.ts'
import { elasticIPAnnotation, warmLabel } from '../../../ledger/record/names.ts'
import { isAvailable, isSource, isWarm } from '../../../ledger/record/source.ts'
import { makeLot, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall, Hooks } from '../../fakes/interposed.ts'
import type { ScriptedCloud } from '../../fakes/scripted-cloud.ts'
import { type Process, type ProcessOptions, type Harness, makeHarness, neverAborted, scheme } from '../harness.ts'

const own = makeReservation({ id: 'own-1', address: '198.51.100.7', marks: { team: 'edge' } })

const sources = (harness: Harness) =>
  harness.api.stored(elasticIPs).filter(({ metadata }) => !metadata.name.startsWith('default.'))
const source = (harness: Harness, name: string) => sources(harness).find(({ metadata }) => metadata.name === name)
const addressOf = (claimed: ClaimResult) => (claimed.kind === 'held' ? claimed.address : claimed.reason)

/** Reconciles the warm pool and every available address until nothing is left to do. */
async function settle(harness: Harness, process: Process): Promise<void> {
  for (let round = 0; round < 14; round += 1) {
    await process.fillPool()
    const sources = harness.api
      .stored(elasticIPs)
      .flatMap(({ metadata, spec }) => [metadata.name, spec.source?.name ?? ''])
    for (const name of new Set(sources)) if (name !== '') await process.reconcileSource(name).catch(() => undefined)
  }
}

async function warmHarness(warmPool: number, options: ProcessOptions = {}) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a', { warmPool, ...options })
  await settle(harness, process)
  return { harness, process }
}

async function officeHarness(spec: Partial<ElasticIP['spec']> = {}) {
  const { harness, process } = await warmHarness(0)
  harness.cloud.put(own)
  harness.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Retain', ...spec }))
  await process.reconcileSource('office').catch(() => undefined)
  return { harness, process }
}

test('the warm pool reserves each address once, with our marks and without a Service', async () => {
  const { harness } = await warmHarness(3)
  assert.is(sources(harness).filter(isAvailable).length, 3)
  assert.is(harness.cloud.calls.reserve, 3)
  assert.is(harness.cloud.calls.reservations, 0)
  for (const { metadata, status } of sources(harness)) {
    const [reserved] = harness.cloud.reserved(sourceMarks(scheme, metadata.uid ?? ''))
    assert.is(reserved?.id, status?.reservationID)
    assert.is(reserved?.marks['service'], undefined)
  }
})

test('a claim takes a warm address without a call to the provider', async () => {
  const { harness, process } = await warmHarness(1)
  const before = { ...harness.cloud.calls }
  assert.is(addressOf(await process.claim()), '203.0.113.1')
  assert.equal(harness.cloud.calls, before)
  assert.is(addressOf(await process.claim({ key: 'default/other' })), '203.0.113.2')
})

test('a claimed warm address is transferred to its Service, and the pool is filled again', async () => {
  const { harness, process } = await warmHarness(1)
  await process.claim()
  await settle(harness, process)
  assert.is(harness.record()?.spec.source, undefined)
  assert.equal(
    harness.cloud.reserved(serviceMarks(scheme, 'default/web')).map(({ id, marks }) => [id, marks['elastic-ip']]),
    [['res-1', undefined]],
  )
  assert.equal(
    sources(harness).map((one) => [one.metadata.name, isAvailable(one), one.status?.reservationID]),
    [['warm-da-1', true, 'res-2']],
  )
})

test('a transfer does not leave the name of the warm record in the record of the Service', async () => {
  const { harness, process } = await warmHarness(1)
  await process.claim()
  const [warm, record] = [source(harness, 'warm-da-1'), harness.record()]
  assert.is(record?.spec.source?.name, 'warm-da-1')
  if (warm && record) await transferWarm(process.deps, { source: warm, record }, neverAborted)
  assert.is(harness.record()?.spec.source, undefined)
  assert.is(source(harness, 'warm-da-1'), undefined)
})

test('a reservation that now has the id of a claimed warm address is not marked', async () => {
  const { harness, process } = await warmHarness(1)
  await process.claim()
  const theirs = makeReservation({ id: 'res-1', address: '203.0.113.99', marks: {} })
  harness.cloud.put(theirs)
  await settle(harness, process)
  assert.equal(
    harness.cloud.reserved().find(({ id }) => id === 'res-1'),
    theirs,
  )
})

test('a restored record whose warm address no longer exists finds the address that the Service had, and buys no other', async () => {
  const { harness, process } = await warmHarness(0)
  harness.cloud.put(makeReservation({ marks: serviceMarks(scheme, 'default/web') }))
  const claimRef = { namespace: 'default', name: 'web' }
  const source = { type: 'WarmPool', name: 'warm-gone' } as const
  harness.api.put(elasticIPs, makeLot('default.web', { claimRef, location: 'da', reclaimPolicy: 'Delete', source }))
  assert.is(addressOf(await process.claim()), makeReservation().address)
  assert.is(harness.cloud.calls.reserve, 0)
})

test('a claim does not take a warm address in another location', async () => {
  const { harness, process } = await warmHarness(1)
  await process.claim({ location: 'sv' })
  assert.is(harness.cloud.reserved()[1]?.location, 'sv')
  assert.ok(sources(harness).every(isAvailable))
})

test('a warm address that a failed claim did not get is tried by the next claim', async () => {
  const kube: Hooks = {}
  const { harness, process } = await warmHarness(1, { kube })
  kube.before = ({ verb }) => {
    if (verb === 'list') throw new KubeError('busy', { status: 500, reason: 'InternalError' })
  }
  await process.claim().catch(() => undefined)
  kube.before = undefined
  assert.is(addressOf(await process.claim({ key: 'default/other' })), '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('when three replicas serve fifty Services from ten warm addresses, no two Services share an address', async () => {
  const slow = { before: () => sleep(Math.random() * 5) }
  const { harness, process } = await warmHarness(10)
  const replicas = [process, harness.alone('b', { kube: slow }), harness.alone('c', { kube: slow })]
  const claims = Array.from({ length: 50 }, (_, n) => {
    const replica = replicas[n % 3] ?? process
    return replica.claim({ key: `default/s${n}`, wait: true }, AbortSignal.timeout(20_000))
  })
  const addresses = (await Promise.all(claims)).map(addressOf)
  assert.is(new Set(addresses).size, 50)
  assert.is(harness.cloud.bought.length, 50)
  await settle(harness, process)
  assert.is(harness.cloud.reserved().length, 60)
  assert.is(sources(harness).filter(isAvailable).length, 10)
})

test('while a warm address cannot be marked at the provider, its Service has it and no other Service gets it', async () => {
  const { harness, process } = await warmHarness(1)
  harness.cloud.refusesMark = 'unavailable'
  await process.claim()
  await settle(harness, process)
  assert.is(harness.record()?.status?.address, '203.0.113.1')
  assert.equal(sources(harness).map(isAvailable), [false])
  assert.is(addressOf(await process.claim({ key: 'default/other' })), '203.0.113.2')
})

test('when a Service is deleted before its warm address is transferred, the address is released and leaves the pool', async () => {
  const { harness, process } = await warmHarness(1)
  harness.cloud.refusesMark = 'unavailable'
  await process.claim()
  assert.is(await process.release(), 'released')
  assert.equal(sources(harness), [])
  assert.equal(harness.cloud.reserved(), [])
})

test('the warm address of a Service that was never stored is released once, after the grace period', async () => {
  const { harness, process } = await warmHarness(1)
  await process.claim()
  await process.reconcile('default/web')
  harness.advance(16 * 60_000)
  await process.reconcile('default/web')
  await settle(harness, process)
  assert.equal(harness.cloud.released, ['res-1'])
  assert.is(harness.cloud.reserved().length, 1)
})

for (const fate of ['quota', 'unavailable'] as const) {
  test(`while the provider answers ${fate}, one warm address at a time is requested, and the record shows the reason`, async () => {
    const harness = makeHarness()
    harness.cloud.otherwise = fate
    const process = harness.alone('a', { warmPool: 5 })
    await process.fillPool()
    for (let n = 0; n < 3; n += 1) await process.reconcileSource('warm-da-1').catch(() => undefined)
    await process.fillPool()
    assert.is(sources(harness).length, 1)
    assert.is(sources(harness)[0]?.status?.message, `the scripted cloud says ${fate}`)
    assert.is(harness.cloud.calls.reserve, 3)
  })
}

test('a warm address whose answer was lost is found again, not bought twice', async () => {
  const harness = makeHarness()
  harness.cloud.fates.push('lost')
  const process = harness.alone('a', { warmPool: 1 })
  await settle(harness, process)
  harness.advance(41_000)
  await settle(harness, harness.alone('b', { warmPool: 1 }))
  assert.equal(sources(harness).map(isAvailable), [true])
  assert.is(harness.cloud.bought.length, 1)
})

for (const [clock, aheadMs] of [
  ['is right', 0],
  ['is an hour behind', -3_600_000],
] as const)
  test(`a warm address whose status somebody emptied is found again, not bought twice, where the clock ${clock}`, async () => {
    const { harness } = await warmHarness(1)
    const [source] = sources(harness)
    const { status: _emptied, ...record } = source as ElasticIP
    harness.advance(61_000)
    harness.api.put(elasticIPs, record)
    const late = harness.alone('b', { warmPool: 1 })
    late.clock.aheadMs = aheadMs
    await settle(harness, late)
    assert.equal(sources(harness).map(isAvailable), [true])
    assert.is(harness.cloud.bought.length, 1)
  })

test('two leaders that fill one warm pool do not exceed its size', async () => {
  const harness = makeHarness()
  const [a, b] = [harness.alone('a', { warmPool: 2 }), harness.alone('b', { warmPool: 2 })]
  for (let n = 0; n < 4; n += 1) {
    await Promise.all([a.fillPool(), b.fillPool()])
    for (const { metadata } of sources(harness)) {
      await Promise.allSettled([a.reconcileSource(metadata.name), b.reconcileSource(metadata.name)])
    }
  }
  assert.is(harness.cloud.bought.length, 2)
  assert.equal(sources(harness).map(isAvailable), [true, true])
})

test('a warm pool that is made smaller releases its surplus', async () => {
  const { harness } = await warmHarness(3)
  await settle(harness, harness.alone('b', { warmPool: 1 }))
  assert.equal(
    sources(harness).map(({ metadata }) => metadata.name),
    ['warm-da-1'],
  )
  assert.equal(harness.cloud.released.toSorted(), ['res-2', 'res-3'])
})

test('an address that an operator takes out of the warm pool stays, and the pool is filled again', async () => {
  const { harness, process } = await warmHarness(1)
  const [mine] = sources(harness)
  if (mine) harness.api.put(elasticIPs, { ...mine, metadata: { ...mine.metadata, labels: {} } })
  await settle(harness, process)
  assert.equal(
    sources(harness).map((one) => [one.metadata.name, isWarm(one)]),
    [
      ['warm-da-1', false],
      ['warm-da-2', true],
    ],
  )
  assert.is(addressOf(await process.claim({ elasticIP: 'warm-da-1' })), '203.0.113.1')
})

test('a warm address whose record is deleted is released and replaced', async () => {
  const { harness, process } = await warmHarness(1)
  await process.client.remove(elasticIPs, { name: 'warm-da-1' })
  await settle(harness, process)
  assert.equal(harness.cloud.released, ['res-1'])
  assert.equal(sources(harness).map(isAvailable), [true])
})

test('a warm address that the provider lost is written off when two sweeps miss it', async () => {
  const { harness, process } = await warmHarness(1)
  await harness.cloud.cloud.release({ id: 'res-1', marks: {} }, neverAborted)
  for (let n = 0; n < 2; n += 1) await process.sweep(neverAborted)
  await settle(harness, process)
  assert.equal(
    sources(harness).map(({ status }) => status?.reservationID),
    ['res-2'],
  )
})

test('after a restore, a warm address that carries a Service’s mark goes to no other Service', async () => {
  const { harness, process } = await warmHarness(1)
  await harness.cloud.cloud.mark(
    { id: 'res-1', marks: {} },
    { ...serviceMarks(scheme, 'default/web'), 'elastic-ip': undefined },
    neverAborted,
  )
  harness.addService(makeService())
  await process.sweep(neverAborted)
  assert.equal(sources(harness), [])
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, 'res-1')
})

test('an orphan with the marks of a warm address is released when two sweeps agree', async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'lost', marks: sourceMarks(scheme, 'uid-gone') }))
  const process = harness.alone('a')
  await process.sweep(neverAborted)
  harness.advance(16 * 60_000)
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['lost'])
})

test('warm addresses count towards the limit of the cluster, and a claimed one counts once', async () => {
  const limits = { cluster: 3, namespace: undefined }
  const { harness, process } = await warmHarness(2, { limits })
  assert.is((await process.claim()).kind, 'held')
  await settle(harness, process)
  assert.is((await process.claim({ key: 'default/b' })).kind, 'held')
  await settle(harness, process)
  assert.is(harness.cloud.reserved().length, 3)
  assert.is((await process.claim({ key: 'default/c' })).kind, 'held')
  await settle(harness, process)
  assert.match(addressOf(await process.claim({ key: 'default/d' })), 'the limit of 3 addresses in the cluster')
  assert.is(harness.cloud.reserved().length, 3)
})

test('a Service whose namespace has reached its limit gets no warm address, and the address stays in the pool', async () => {
  const { harness, process } = await warmHarness(1, { limits: { cluster: undefined, namespace: 0 } })
  assert.match(addressOf(await process.claim()), 'the limit of 0 addresses in namespace default')
  assert.is(harness.record(), undefined)
  await settle(harness, process)
  assert.equal(sources(harness).map(isAvailable), [true])
})

for (const { error, what } of [
  { error: new KubeError('busy', { status: 500, reason: 'InternalError' }), what: 'fails, and keeps its record' },
  { error: new KubeError('changed', { status: 409, reason: 'Conflict' }), what: 'is refused' },
])
  test(`a claim over the limit whose warm address cannot be made available (${error.reason}) ${what}`, async () => {
    const kube: Hooks = {}
    const { process, harness } = await warmHarness(1, { limits: { cluster: undefined, namespace: 0 }, kube })
    const isReturned = ({ values: [, changed] }: HeardCall) =>
      isSource(changed as ElasticIP) && isAvailable(changed as ElasticIP)
    kube.before = (call) => {
      if (call.verb === 'replace' && isReturned(call)) throw error
    }
    const isRefused = error.reason === 'Conflict'
    const [claimed] = await Promise.allSettled([process.claim()])
    assert.equal([claimed.status, harness.record() === undefined], [isRefused ? 'fulfilled' : 'rejected', isRefused])
  })

test('a claim that died before the limits were checked is checked when it is taken over, and its record stays', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const limits = { cluster: undefined, namespace: 1 }
  const never = Promise.withResolvers<void>()
  const dies = harness.alone('a', {
    limits,
    kube: { before: ({ verb }) => (verb === 'list' ? never.promise : undefined) },
  })
  void dies.claim()
  await sleep(20)
  assert.is(harness.record()?.status, undefined)
  const next = harness.alone('b', { limits })
  assert.match(addressOf(await next.claim({ key: 'default/first' })), 'the limit of 1 address')
  harness.advance(41_000)
  await next.claim()
  harness.advance(41_000)
  assert.is((await next.claim()).kind, 'held', 'it was there before')
  const late = harness.alone('c', { limits: { cluster: undefined, namespace: 0 } })
  harness.api.put(elasticIPs, {
    ...makeLot('default.late', {
      claimRef: { namespace: 'default', name: 'late' },
      location: 'da',
      reclaimPolicy: 'Delete',
    }),
  })
  assert.match(addressOf(await late.claim({ key: 'default/late' })), 'the limit of 0 addresses')
  assert.is(harness.record('default/late')?.status?.message?.startsWith('the limit of 0'), true)
})

test('a provisioned ElasticIP becomes Available, and a Service can name it', async () => {
  const { harness, process } = await officeHarness()
  assert.is(source(harness, 'office')?.spec.location, 'da')
  const before = { ...harness.cloud.calls }
  assert.is(addressOf(await process.claim({ elasticIP: 'office' })), own.address)
  assert.equal(harness.cloud.calls, before)
  assert.match(
    addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })),
    'is held by Service default/web',
  )
  assert.is(harness.record('default/b'), undefined)
})

test('a claim that names an ElasticIP does not share a request for a new address', async () => {
  const { harness } = await officeHarness()
  const answers = Promise.withResolvers<void>()
  const before = ({ verb }: HeardCall) => (verb === 'reserve' ? answers.promise : undefined)
  const slow = harness.alone('slow', { cloud: { before } })
  const ordered = slow.claim()
  await sleep(20)
  const others = [slow.claim(), slow.claim({ elasticIP: 'office' })]
  await sleep(20)
  answers.resolve()
  const [same, named] = await Promise.all(others)
  assert.equal([same, named?.kind], [await ordered, 'busy'])
})

test('a Service that is created together with the ElasticIP it names waits until that is provisioned', async () => {
  const { harness, process } = await warmHarness(0)
  harness.cloud.put(own)
  harness.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Retain' }))
  const claimed = process.claim({ elasticIP: 'office', wait: true }, AbortSignal.timeout(5_000))
  await sleep(20)
  await process.reconcileSource('office')
  assert.is(addressOf(await claimed), own.address)
})

test('when twenty Services name one ElasticIP at once, one gets it', async () => {
  const { harness, process } = await officeHarness()
  const replicas = [process, harness.alone('b'), harness.alone('c')]
  const claims = Array.from({ length: 20 }, (_, n) =>
    (replicas[n % 3] ?? process).claim({ key: `default/s${n}`, elasticIP: 'office' }),
  )
  const answers = await Promise.all(claims)
  assert.is(answers.filter(({ kind }) => kind === 'held').length, 1)
  assert.is(harness.api.stored(elasticIPs).length, 2)
})

test('a provisioned address with Retain becomes Available again when its Service is deleted', async () => {
  const { harness, process } = await officeHarness()
  await process.claim({ elasticIP: 'office' })
  assert.is(await process.release(), 'released')
  assert.ok(sources(harness).every(isAvailable))
  assert.equal(harness.cloud.released, [])
  assert.equal(harness.cloud.reserved()[0]?.marks, own.marks)
  assert.is(addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })), own.address)
})

for (const [used, stays] of [
  [true, false],
  [false, true],
] as const) {
  test(`a provisioned address with Delete is released after a Service ${used ? 'used it' : 'that was never stored'}: ${!stays}`, async () => {
    const { harness, process } = await officeHarness({ reclaimPolicy: 'Delete' })
    await process.claim({ elasticIP: 'office' })
    const record = harness.record()
    const { claimRef } = record?.spec ?? {}
    if (used && record && claimRef) {
      harness.api.put(elasticIPs, { ...record, spec: { ...record.spec, claimRef: { ...claimRef, uid: 'service-1' } } })
    }
    await process.release()
    await settle(harness, process)
    assert.is(harness.cloud.reserved().length, stays ? 1 : 0)
    assert.equal(sources(harness).map(isAvailable), stays ? [true] : [])
  })
}

for (const policy of ['Retain', 'Delete'] as const) {
  test(`when a provisioned ElasticIP with ${policy} is deleted, its reservation ${policy === 'Retain' ? 'stays' : 'is deleted'}`, async () => {
    const { harness, process } = await officeHarness({ reclaimPolicy: policy })
    await process.client.remove(elasticIPs, { name: 'office' })
    await settle(harness, process)
    assert.equal(sources(harness), [])
    assert.is(harness.cloud.reserved().length, policy === 'Retain' ? 1 : 0)
  })
}

const wrong: { name: string; reservation: Partial<typeof own>; spec?: Partial<ElasticIP['spec']>; says: string }[] = [
  {
    name: 'the provider does not have its reservation',
    reservation: { id: 'other' },
    says: 'Scripted Cloud has no reservation own-1',
  },
  {
    name: 'its reservation is not granted',
    reservation: { state: 'requested', address: undefined },
    says: 'has not granted',
  },
  {
    name: 'its reservation was denied',
    reservation: { state: 'denied', address: undefined },
    says: 'denied the request',
  },
  {
    name: 'its reservation is in another location',
    reservation: { location: 'sv' },
    spec: { location: 'da' },
    says: 'is in sv, but spec.location is da',
  },
]
for (const { name, reservation, spec, says } of wrong) {
  test(`a provisioned ElasticIP is not Available when ${name}, and a Service that names it gets the reason`, async () => {
    const harness = makeHarness()
    harness.cloud.put({ ...own, ...reservation })
    harness.api.put(elasticIPs, makeLot('office', { reservationID: 'own-1', reclaimPolicy: 'Retain', ...spec }))
    const process = harness.alone('a')
    await process.reconcileSource('office').then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, says),
    )
    assert.match(source(harness, 'office')?.status?.message ?? '', says)
    assert.match(addressOf(await process.claim({ elasticIP: 'office' })), `ElasticIP office is not Available`)
    await process.client.remove(elasticIPs, { name: 'office' })
    await settle(harness, process)
    assert.equal([sources(harness), harness.cloud.released], [[], []])
  })
}

test('a second ElasticIP with the same reservation is not provisioned, and its deletion does not delete the reservation', async () => {
  const { harness, process } = await officeHarness()
  await process.claim()
  for (const [name, id] of [
    ['twin', 'own-1'],
    ['stolen', 'res-1'],
  ] as const) {
    harness.api.put(elasticIPs, makeLot(name, { reservationID: id, reclaimPolicy: 'Delete' }))
    await process.reconcileSource(name).catch(() => undefined)
    assert.match(source(harness, name)?.status?.message ?? '', 'already')
    await process.client.remove(elasticIPs, { name })
    await settle(harness, process)
  }
  assert.equal(harness.cloud.released, [])
})

test('a provisioned address that the provider lost is written off after two checks, and its Service loses it', async () => {
  const { harness, process } = await officeHarness()
  await process.claim({ elasticIP: 'office' })
  await harness.cloud.cloud.release(own, neverAborted)
  for (let n = 0; n < 2; n += 1) {
    harness.advance(301_000)
    await process.reconcileSource('office').catch(() => undefined)
  }
  assert.is(harness.record()?.status?.address, undefined)
  assert.match(source(harness, 'office')?.status?.message ?? '', 'no longer has 198.51.100.7')
  assert.match(addressOf(await process.claim({ elasticIP: 'office' })), 'is not Available')
})

const falseAbsences: { name: string; answer: (cloud: ScriptedCloud) => void }[] = [
  { name: 'the list has it', answer: () => {} },
  {
    name: 'the list cannot be read',
    answer: ({ cloud }) => (cloud.reservations = () => Promise.reject(new Error('the list cannot be read'))),
  },
]
for (const { name, answer } of falseAbsences) {
  test(`a provisioned address that the provider does not find by its id stays with its Service when ${name}`, async () => {
    const { harness, process } = await officeHarness()
    await process.claim({ elasticIP: 'office' })
    harness.cloud.idsLate = true
    answer(harness.cloud)
    for (let n = 0; n < 3; n += 1) {
      harness.advance(301_000)
      await process.reconcileSource('office').catch(() => undefined)
    }
    assert.is(harness.record()?.status?.address, '198.51.100.7')
    assert.is(source(harness, 'office')?.status?.reservationID, 'own-1')
  })
}

for (const confirmsLoss of [false, true])
  test(`of several provisioned addresses that a list lacks at once, ${confirmsLoss ? 'all are written off if a person confirms it' : 'none is written off'}`, async () => {
    const { harness, process } = await warmHarness(0, { confirmsLoss })
    const names = ['hall', 'office']
    for (const name of names) {
      const reservation = makeReservation({ id: name, address: `198.51.100.${name.length}`, marks: { team: 'edge' } })
      harness.cloud.put(reservation)
      harness.api.put(elasticIPs, makeLot(name, { reservationID: name, reclaimPolicy: 'Retain' }))
      await process.reconcileSource(name)
      assert.is((await process.claim({ key: `default/${name}`, elasticIP: name })).kind, 'held')
    }
    harness.cloud.cloud.reservations = () => Promise.resolve([])
    harness.cloud.idsLate = true
    for (let n = 0; n < 3; n += 1) {
      harness.advance(301_000)
      for (const name of names) await process.reconcileSource(name).catch(() => undefined)
    }
    const held = names.map((name) => harness.record(`default/${name}`)?.status?.address)
    assert.equal(held, confirmsLoss ? [undefined, undefined] : ['198.51.100.4', '198.51.100.6'])
    assert.is(harness.warnings.includes('nothing is written off'), !confirmsLoss)
  })

test('a new term of a leader does not count what its previous term missed', async () => {
  const { harness, process } = await officeHarness()
  await harness.cloud.cloud.release(own, neverAborted)
  let nowMs = 0
  const checks = provisionedCheck(process.deps, { everyMs: 300_000, monotonicMs: () => (nowMs += 301_000) })
  const seen = { source: source(harness, 'office'), record: undefined }
  await checks.check(seen, neverAborted)
  checks.forget()
  await checks.check(seen, neverAborted)
  assert.is(source(harness, 'office')?.status?.reservationID, 'own-1')
  await checks.check(seen, neverAborted)
  assert.is(source(harness, 'office')?.status?.reservationID, undefined)
})

test('a provisioned address is read once in its interval, and at once in a new term of a leader', async () => {
  const { harness, process } = await officeHarness()
  let nowMs = 0
  const checks = provisionedCheck(process.deps, { everyMs: 300_000, monotonicMs: () => nowMs })
  const seen = { source: source(harness, 'office'), record: undefined }
  const readsAt = async (ms: number) => {
    nowMs = ms
    const before = harness.cloud.calls.reservation
    const { againInMs } = await checks.check(seen, neverAborted)
    return [harness.cloud.calls.reservation - before, againInMs]
  }
  assert.equal(await readsAt(0), [1, 300_000])
  assert.equal(await readsAt(200_000), [0, 100_000])
  assert.equal(await readsAt(300_000), [1, 300_000])
  checks.forget()
  assert.equal(await readsAt(300_001), [1, 300_000])
})

test('a claimRef that another writer overwrites on a provisioned ElasticIP is restored', async () => {
  const { harness, process } = await officeHarness()
  await process.claim({ elasticIP: 'office' })
  const office = source(harness, 'office')
  const { claimRef: _gone, ...spec } = office?.spec ?? { reclaimPolicy: 'Retain' as const }
  if (office) harness.api.put(elasticIPs, { ...office, spec })
  await process.reconcileSource('office')
  assert.match(
    addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })),
    'is held by Service default/web',
  )
})

test('a Service cannot name a warm address or another Service’s record', async () => {
  const { process } = await warmHarness(1)
  assert.match(addressOf(await process.claim({ elasticIP: 'warm-da-1' })), `kubectl label eip warm-da-1 ${warmLabel}-`)
  await process.claim({ key: 'default/b' })
  const refusal = async (elasticIP: string) => addressOf(await process.claim({ elasticIP })).replace(elasticIP, 'NAME')
  assert.match(await refusal('default.b'), 'ElasticIP NAME is not a provisioned address')
  assert.is(await refusal('default.none'), await refusal('default.b'), 'nobody learns whether a Service exists')
})

test('a Service whose retained address has another source than it requests is refused, and learns what to do', async () => {
  const { process } = await officeHarness()
  await process.claim({ elasticIP: 'office' })
  assert.match(
    addressOf(await process.claim()),
    `198.51.100.7 of ElasticIP office is kept for it, but no ElasticIP is named; set annotation ${elasticIPAnnotation} to office, or`,
  )
  await process.claim({ key: 'default/b' })
  const other = addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' }))
  assert.match(
    other,
    `203.0.113.1 is kept for it, but ElasticIP office is named; remove annotation ${elasticIPAnnotation}, or`,
  )
})

test.run()
