import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../../ledger/claim/ask.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks, sourceMarks } from '../../../ledger/record/marks.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { isAvailable, isWarm } from '../../../ledger/record/source.ts'
import { makeLot, makeReservation, makeService } from '../../builders.ts'
import { type Process, type ProcessOptions, type World, makeWorld, neverAborted, scheme } from '../harness.ts'

const own = makeReservation({ id: 'own-1', address: '198.51.100.7', marks: { team: 'edge' } })

const sources = (world: World) =>
  world.api.stored(elasticIPs).filter(({ metadata }) => !metadata.name.startsWith('default.'))
const source = (world: World, name: string) => sources(world).find(({ metadata }) => metadata.name === name)
const addressOf = (claimed: ClaimResult) => (claimed.kind === 'held' ? claimed.address : claimed.why)

/** Looks at everything in stock, and at the pool, until nothing is left to do. */
async function settle(world: World, process: Process): Promise<void> {
  for (let round = 0; round < 14; round += 1) {
    await process.fill()
    const sources = world.api
      .stored(elasticIPs)
      .flatMap(({ metadata, spec }) => [metadata.name, spec.source?.name ?? ''])
    for (const name of new Set(sources)) if (name !== '') await process.tend(name).catch(() => undefined)
  }
}

async function warmWorld(warmPool: number, options: ProcessOptions = {}) {
  const world = makeWorld()
  world.adopted()
  const process = world.process('a', { warmPool, ...options })
  await settle(world, process)
  return { world, process }
}

async function officeWorld(spec: Partial<ElasticIP['spec']> = {}) {
  const { world, process } = await warmWorld(0)
  world.sky.put(own)
  world.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Retain', ...spec }))
  await process.tend('office').catch(() => undefined)
  return { world, process }
}

test('a warm pool is filled with one reserve each, marked as ours and as nobody’s', async () => {
  const { world } = await warmWorld(3)
  assert.is(sources(world).filter(isAvailable).length, 3)
  assert.is(world.sky.calls.reserve, 3)
  assert.is(world.sky.calls.reservations, 0)
  for (const { metadata, status } of sources(world)) {
    const [reserved] = world.sky.reserved(sourceMarks(scheme, metadata.uid ?? ''))
    assert.is(reserved?.id, status?.reservationID)
    assert.is(reserved?.marks['service'], undefined)
  }
})

test('a claim takes a warm address without a call to the cloud', async () => {
  const { world, process } = await warmWorld(1)
  const before = { ...world.sky.calls }
  assert.is(addressOf(await process.claim()), '203.0.113.1')
  assert.equal(world.sky.calls, before)
  assert.is(addressOf(await process.claim({ key: 'default/other' })), '203.0.113.2')
})

test('then the cloud hears whose it is, the stock forgets it, and the pool is filled again', async () => {
  const { world, process } = await warmWorld(1)
  await process.claim()
  await settle(world, process)
  assert.is(world.record()?.spec.source, undefined)
  assert.equal(
    world.sky.reserved(serviceMarks(scheme, 'default/web')).map(({ id, marks }) => [id, marks['elastic-ip']]),
    [['res-1', undefined]],
  )
  assert.equal(
    sources(world).map((one) => [one.metadata.name, isAvailable(one), one.status?.reservationID]),
    [['warm-da-1', true, 'res-2']],
  )
})

test('one in another location is left where it is', async () => {
  const { world, process } = await warmWorld(1)
  await process.claim({ location: 'sv' })
  assert.is(world.sky.reserved()[1]?.location, 'sv')
  assert.ok(sources(world).every(isAvailable))
})

test('fifty Services for ten warm addresses, by two replicas: each address is one Service’s', async () => {
  const slow = { before: () => sleep(Math.random() * 5) }
  const { world, process } = await warmWorld(10)
  const replicas = [process, world.process('b', { kube: slow }), world.process('c', { kube: slow })]
  const claims = Array.from({ length: 50 }, (_, n) => {
    const replica = replicas[n % 3] ?? process
    return replica.claim({ key: `default/s${n}`, wait: true }, AbortSignal.timeout(20_000))
  })
  const addresses = (await Promise.all(claims)).map(addressOf)
  assert.is(new Set(addresses).size, 50)
  assert.is(world.sky.bought.length, 50)
  await settle(world, process)
  assert.is(world.sky.reserved().length, 60)
  assert.is(sources(world).filter(isAvailable).length, 10)
})

test('while the cloud cannot be told, the Service has its address, and nobody else gets it', async () => {
  const { world, process } = await warmWorld(1)
  world.sky.refusesMark = 'unavailable'
  await process.claim()
  await settle(world, process)
  assert.is(world.record()?.status?.address, '203.0.113.1')
  assert.equal(sources(world).map(isAvailable), [false])
  assert.is(addressOf(await process.claim({ key: 'default/other' })), '203.0.113.2')
})

test('a Service that goes before that takes the address with it: nothing of it stays in the pool', async () => {
  const { world, process } = await warmWorld(1)
  world.sky.refusesMark = 'unavailable'
  await process.claim()
  assert.is(await process.release(), 'gone')
  assert.equal(sources(world), [])
  assert.equal(world.sky.reserved(), [])
})

test('a Service that was never stored gives a warm address back to the cloud after its grace, and once', async () => {
  const { world, process } = await warmWorld(1)
  await process.claim()
  world.pass(16 * 60_000)
  await process.reconcile('default/web')
  await settle(world, process)
  assert.equal(world.sky.released, ['res-1'])
  assert.is(world.sky.reserved().length, 1)
})

for (const fate of ['quota', 'unavailable'] as const) {
  test(`a cloud that says ${fate} is asked for one warm address at a time, and the record says why`, async () => {
    const world = makeWorld()
    world.sky.otherwise = fate
    const process = world.process('a', { warmPool: 5 })
    await process.fill()
    for (let n = 0; n < 3; n += 1) await process.tend('warm-da-1').catch(() => undefined)
    await process.fill()
    assert.is(sources(world).length, 1)
    assert.is(sources(world)[0]?.status?.message, `the scripted cloud says ${fate}`)
    assert.is(world.sky.calls.reserve, 3)
  })
}

test('a warm address whose answer was lost is found again, not bought twice', async () => {
  const world = makeWorld()
  world.sky.fates.push('lost')
  const process = world.process('a', { warmPool: 1 })
  await settle(world, process)
  world.pass(41_000)
  await settle(world, world.process('b', { warmPool: 1 }))
  assert.equal(sources(world).map(isAvailable), [true])
  assert.is(world.sky.bought.length, 1)
})

test('two leaders fill one pool to its size, and never beyond', async () => {
  const world = makeWorld()
  const [a, b] = [world.process('a', { warmPool: 2 }), world.process('b', { warmPool: 2 })]
  for (let n = 0; n < 4; n += 1) {
    await Promise.all([a.fill(), b.fill()])
    for (const { metadata } of sources(world)) {
      await Promise.allSettled([a.tend(metadata.name), b.tend(metadata.name)])
    }
  }
  assert.is(world.sky.bought.length, 2)
  assert.equal(sources(world).map(isAvailable), [true, true])
})

test('a smaller pool gives back what is too much', async () => {
  const { world } = await warmWorld(3)
  await settle(world, world.process('b', { warmPool: 1 }))
  assert.equal(
    sources(world).map(({ metadata }) => metadata.name),
    ['warm-da-1'],
  )
  assert.equal(world.sky.released.toSorted(), ['res-2', 'res-3'])
})

test('an address that somebody takes out of the pool is theirs, and the pool is filled again', async () => {
  const { world, process } = await warmWorld(1)
  const [mine] = sources(world)
  if (mine) world.api.put(elasticIPs, { ...mine, metadata: { ...mine.metadata, labels: {} } })
  await settle(world, process)
  assert.equal(
    sources(world).map((one) => [one.metadata.name, isWarm(one)]),
    [
      ['warm-da-1', false],
      ['warm-da-2', true],
    ],
  )
  assert.is(addressOf(await process.claim({ elasticIP: 'warm-da-1' })), '203.0.113.1')
})

test('a warm address that a person deletes goes back, and another takes its place', async () => {
  const { world, process } = await warmWorld(1)
  await process.client.remove(elasticIPs, { name: 'warm-da-1' })
  await settle(world, process)
  assert.equal(world.sky.released, ['res-1'])
  assert.equal(sources(world).map(isAvailable), [true])
})

test('one that the cloud has lost is written off when two sweeps miss it', async () => {
  const { world, process } = await warmWorld(1)
  await world.sky.cloud.release('res-1', neverAborted)
  for (let n = 0; n < 2; n += 1) await process.sweep(neverAborted)
  await settle(world, process)
  assert.equal(
    sources(world).map(({ status }) => status?.reservationID),
    ['res-2'],
  )
})

test('one that the cloud says is a Service’s is not handed out by a restored ledger', async () => {
  const { world, process } = await warmWorld(1)
  await world.sky.cloud.mark('res-1', { ...serviceMarks(scheme, 'default/web'), 'elastic-ip': undefined }, neverAborted)
  world.addService(makeService())
  await process.sweep(neverAborted)
  assert.equal(sources(world), [])
  await process.sweep(neverAborted)
  assert.is(world.record()?.status?.reservationID, 'res-1')
})

test('an orphan of the pool goes back when two sweeps agree', async () => {
  const world = makeWorld()
  world.sky.put(makeReservation({ id: 'lost', marks: sourceMarks(scheme, 'uid-gone') }))
  const process = world.process('a')
  for (let n = 0; n < 2; n += 1) await process.sweep(neverAborted)
  assert.equal(world.sky.released, ['lost'])
})

test('warm addresses count in the limit of the cluster, and one that is taken counts once', async () => {
  const limits = { cluster: 3, namespace: undefined }
  const { world, process } = await warmWorld(2, { limits })
  assert.is((await process.claim()).kind, 'held')
  await settle(world, process)
  assert.is((await process.claim({ key: 'default/b' })).kind, 'held')
  await settle(world, process)
  assert.is(world.sky.reserved().length, 3)
  assert.is((await process.claim({ key: 'default/c' })).kind, 'held')
  await settle(world, process)
  assert.match(addressOf(await process.claim({ key: 'default/d' })), 'the limit of 3 addresses in the cluster')
  assert.is(world.sky.reserved().length, 3)
})

test('a namespace that is full gets no warm address either, and the pool keeps it', async () => {
  const { world, process } = await warmWorld(1, { limits: { cluster: undefined, namespace: 0 } })
  assert.match(addressOf(await process.claim()), 'the limit of 0 addresses in namespace default')
  assert.is(world.record(), undefined)
  await settle(world, process)
  assert.equal(sources(world).map(isAvailable), [true])
})

test('what was let in without being counted is counted when it is asked for again, and its record stays', async () => {
  const world = makeWorld()
  world.adopted()
  const limits = { cluster: undefined, namespace: 1 }
  const never = Promise.withResolvers<void>()
  const dies = world.process('a', {
    limits,
    kube: { before: ({ verb }) => (verb === 'list' ? never.promise : undefined) },
  })
  void dies.claim()
  await sleep(20)
  assert.is(world.record()?.status, undefined)
  const next = world.process('b', { limits })
  assert.match(addressOf(await next.claim({ key: 'default/first' })), 'the limit of 1 addresses')
  world.pass(41_000)
  await next.claim()
  world.pass(41_000)
  assert.is((await next.claim()).kind, 'held', 'it was there before')
  const late = world.process('c', { limits: { cluster: undefined, namespace: 0 } })
  world.api.put(elasticIPs, {
    ...makeLot('default.late', {
      claimRef: { namespace: 'default', name: 'late' },
      location: 'da',
      reclaimPolicy: 'Delete',
    }),
  })
  assert.match(addressOf(await late.claim({ key: 'default/late' })), 'the limit of 0 addresses')
  assert.is(world.record('default/late')?.status?.message?.startsWith('the limit of 0'), true)
})

test('what a person provisioned is looked up, and theirs to choose by name', async () => {
  const { world, process } = await officeWorld()
  assert.is(source(world, 'office')?.spec.location, 'da')
  const before = { ...world.sky.calls }
  assert.is(addressOf(await process.claim({ elasticIP: 'office' })), own.address)
  assert.equal(world.sky.calls, before)
  assert.match(
    addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })),
    'is held by Service default/web',
  )
  assert.is(world.record('default/b'), undefined)
})

test('a Service that comes with the ElasticIP it names waits until that is looked up', async () => {
  const { world, process } = await warmWorld(0)
  world.sky.put(own)
  world.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Retain' }))
  const claimed = process.claim({ elasticIP: 'office', wait: true }, AbortSignal.timeout(5_000))
  await sleep(20)
  await process.tend('office')
  assert.is(addressOf(await claimed), own.address)
})

test('of twenty who name it at once one gets it', async () => {
  const { world, process } = await officeWorld()
  const replicas = [process, world.process('b'), world.process('c')]
  const claims = Array.from({ length: 20 }, (_, n) =>
    (replicas[n % 3] ?? process).claim({ key: `default/s${n}`, elasticIP: 'office' }),
  )
  const answers = await Promise.all(claims)
  assert.is(answers.filter(({ kind }) => kind === 'held').length, 1)
  assert.is(world.api.stored(elasticIPs).length, 2)
})

test('it comes back when its Service goes, and never goes to the cloud', async () => {
  const { world, process } = await officeWorld()
  await process.claim({ elasticIP: 'office' })
  assert.is(await process.release(), 'gone')
  assert.ok(sources(world).every(isAvailable))
  assert.equal(world.sky.released, [])
  assert.equal(world.sky.reserved()[0]?.marks, own.marks)
  assert.is(addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })), own.address)
})

for (const [used, stays] of [
  [true, false],
  [false, true],
] as const) {
  test(`with Delete it goes back to the cloud after a Service ${used ? 'had it' : 'that was never stored'}: ${!stays}`, async () => {
    const { world, process } = await officeWorld({ reclaimPolicy: 'Delete' })
    await process.claim({ elasticIP: 'office' })
    const record = world.record()
    const { claimRef } = record?.spec ?? {}
    if (used && record && claimRef) {
      world.api.put(elasticIPs, { ...record, spec: { ...record.spec, claimRef: { ...claimRef, uid: 'service-1' } } })
    }
    await process.release()
    await settle(world, process)
    assert.is(world.sky.reserved().length, stays ? 1 : 0)
    assert.equal(sources(world).map(isAvailable), stays ? [true] : [])
  })
}

for (const policy of ['Retain', 'Delete'] as const) {
  test(`deleted by hand with ${policy}, its reservation ${policy === 'Retain' ? 'stays' : 'goes back'}`, async () => {
    const { world, process } = await officeWorld({ reclaimPolicy: policy })
    await process.client.remove(elasticIPs, { name: 'office' })
    await settle(world, process)
    assert.equal(sources(world), [])
    assert.is(world.sky.reserved().length, policy === 'Retain' ? 1 : 0)
  })
}

const wrong: { name: string; reservation: Partial<typeof own>; spec?: Partial<ElasticIP['spec']>; says: string }[] = [
  {
    name: 'there is no such reservation',
    reservation: { id: 'other' },
    says: 'Scripted Cloud has no reservation own-1',
  },
  { name: 'it is not granted', reservation: { state: 'requested', address: undefined }, says: 'has not granted' },
  { name: 'it was denied', reservation: { state: 'denied', address: undefined }, says: 'denied the request' },
  {
    name: 'it is elsewhere',
    reservation: { location: 'sv' },
    spec: { location: 'da' },
    says: 'is in sv, and spec.location says da',
  },
]
for (const { name, reservation, spec, says } of wrong) {
  test(`it is not Available when ${name}, and says so to whoever names it`, async () => {
    const world = makeWorld()
    world.sky.put({ ...own, ...reservation })
    world.api.put(elasticIPs, makeLot('office', { reservationID: 'own-1', reclaimPolicy: 'Retain', ...spec }))
    const process = world.process('a')
    await process.tend('office').then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, says),
    )
    assert.match(source(world, 'office')?.status?.message ?? '', says)
    assert.match(addressOf(await process.claim({ elasticIP: 'office' })), `ElasticIP office is not Available`)
    await process.client.remove(elasticIPs, { name: 'office' })
    await settle(world, process)
    assert.equal([sources(world), world.sky.released], [[], []])
  })
}

test('a reservation that another record has is not provisioned a second time, nor released with the second record', async () => {
  const { world, process } = await officeWorld()
  await process.claim()
  for (const [name, id] of [
    ['twin', 'own-1'],
    ['stolen', 'res-1'],
  ] as const) {
    world.api.put(elasticIPs, makeLot(name, { reservationID: id, reclaimPolicy: 'Delete' }))
    await process.tend(name).catch(() => undefined)
    assert.match(source(world, name)?.status?.message ?? '', 'already')
    await process.client.remove(elasticIPs, { name })
    await settle(world, process)
  }
  assert.equal(world.sky.released, [])
})

test('one that the cloud has lost is taken from its Service when two looks say so', async () => {
  const { world, process } = await officeWorld()
  await process.claim({ elasticIP: 'office' })
  await world.sky.cloud.release(own.id, neverAborted)
  for (let n = 0; n < 2; n += 1) {
    world.pass(301_000)
    await process.tend('office').catch(() => undefined)
  }
  assert.is(world.record()?.status?.address, undefined)
  assert.match(source(world, 'office')?.status?.message ?? '', 'no longer has 198.51.100.7')
  assert.match(addressOf(await process.claim({ elasticIP: 'office' })), 'is not Available')
})

test('whoever writes over who has it changes nothing', async () => {
  const { world, process } = await officeWorld()
  await process.claim({ elasticIP: 'office' })
  const office = source(world, 'office')
  const { claimRef: _gone, ...spec } = office?.spec ?? { reclaimPolicy: 'Retain' as const }
  if (office) world.api.put(elasticIPs, { ...office, spec })
  await process.tend('office')
  assert.match(
    addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' })),
    'is held by Service default/web',
  )
})

test('an address of the pool is not chosen by name, nor a Service’s own', async () => {
  const { process } = await warmWorld(1)
  assert.match(addressOf(await process.claim({ elasticIP: 'warm-da-1' })), `kubectl label eip warm-da-1 ${warmLabel}-`)
  await process.claim({ key: 'default/b' })
  assert.match(addressOf(await process.claim({ elasticIP: 'default.b' })), 'was not provisioned to be chosen')
  assert.match(addressOf(await process.claim({ elasticIP: 'nowhere' })), 'ElasticIP nowhere does not exist')
})

test('what waits for a Service that has chosen otherwise is refused, and how to end that is said', async () => {
  const { process } = await officeWorld()
  await process.claim({ elasticIP: 'office' })
  assert.match(
    addressOf(await process.claim()),
    '198.51.100.7 of ElasticIP office is kept for it, and no ElasticIP is named',
  )
  await process.claim({ key: 'default/b' })
  const other = addressOf(await process.claim({ key: 'default/b', elasticIP: 'office' }))
  assert.match(other, '203.0.113.1 is kept for it, and ElasticIP office is named')
})

test.run()
