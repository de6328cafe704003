import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Marked, type Reservation } from '../../../clouds/ports/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { configMaps, services } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { clusterMarks, serviceMarks } from '../../../ledger/record/marks.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { listedOrphans } from '../../../ledger/identity/ledger-map.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall, Hooks } from '../../fakes/interposed.ts'
import { silentLog } from '../../fakes/log.ts'
import { graceMs, makeHarness, neverAborted, scheme, timeoutMs, type Harness, usualPolicy } from '../harness.ts'

const of = (name: string) => serviceMarks(scheme, `default/${name}`)
const old = makeReservation({ id: 'res-8', address: '203.0.113.8', marks: of('web') })
const isAdopted = (harness: Harness) => harness.process('reader').mark.isSet(neverAborted)

/** Sweeps as often as that, with a time between that outlasts every grace. */
async function sweepTimes(harness: Harness, times: number, process = harness.process('sweeper')) {
  for (let n = 0; n < times; n += 1) {
    await process.sweep(neverAborted)
    harness.advance(graceMs + 1_000)
  }
  return process
}

test("a predecessor's reservation of a live Service becomes its record, and the claim finds it there", async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.addService(makeService())
  const process = await sweepTimes(harness, 1)
  assert.is(harness.record()?.status?.phase, 'Reserved')
  assert.is(harness.record()?.spec.reservationID, 'res-8')
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.8')
  assert.is(harness.cloud.calls.reserve, 0)
  assert.ok(await isAdopted(harness))
})

test('an adopted address outlives its Service if the default policy is Retain', async () => {
  const harness = makeHarness({ scheme, sweepsUntagged: false, policy: { ...usualPolicy, reclaimPolicy: 'Retain' } })
  harness.cloud.put(old)
  harness.addService(makeService())
  const process = await sweepTimes(harness, 1)
  await process.reconcile('default/web')
  assert.is(harness.record()?.status?.phase, 'Bound')
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  await process.reconcile('default/web')
  assert.is(harness.record()?.status?.phase, 'Released')
  assert.equal(harness.cloud.released, [])
})

test('a Service that is not a LoadBalancer forgets only the address that is released', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const address = (name: string, loadBalancerIP: string) =>
    harness.addService(makeService({ name, uid: name, type: 'ClusterIP', loadBalancerIP }))
  address('web', '203.0.113.8')
  address('other', '203.0.113.8')
  await sweepTimes(harness, 2)
  assert.is(harness.cloud.calls.release, 1)
  const named = harness.api.stored(services).map(({ metadata, spec }) => [metadata.name, spec.loadBalancerIP])
  assert.equal(Object.fromEntries(named), { web: undefined, other: '203.0.113.8' })
})

test("a Service forgets a released address that its predecessor's mark reserved for it in the other form", async () => {
  const packet = { ...scheme, otherSeparator: '.' } as const
  const harness = makeHarness({ scheme: packet, sweepsUntagged: false })
  harness.cloud.put({ ...old, marks: serviceMarks({ ...scheme, separator: '.' }, 'default/web') })
  harness.addService(makeService({ type: 'ClusterIP', loadBalancerIP: '203.0.113.8' }))
  await sweepTimes(harness, 2)
  assert.equal(harness.cloud.released, ['res-8'])
  assert.is(harness.api.stored(services)[0]?.spec.loadBalancerIP, undefined)
})

test("a Service keeps an address other than that of its namesake's orphan", async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.addService(makeService({ type: 'ClusterIP', loadBalancerIP: '203.0.113.9' }))
  await sweepTimes(harness, 2)
  assert.equal(harness.cloud.released, ['res-8'])
  assert.is(harness.api.stored(services)[0]?.spec.loadBalancerIP, '203.0.113.9')
})

test("a Service that now wants the address of its namesake's orphan keeps it, and the orphan stays", async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.addService(makeService({ type: 'ClusterIP' }))
  const wanting = makeService({ loadBalancerIP: '203.0.113.8' })
  const hooks: Hooks = {}
  const process = await sweepTimes(harness, 1, harness.process('sweeper', { kube: hooks }))
  // The sweep has compared, and releases next.
  hooks.before = ({ verb, values: [resource] }) => {
    if (verb !== 'list' || resource !== elasticIPs) return
    hooks.before = undefined
    harness.addService(wanting)
  }
  await sweepTimes(harness, 1, process)
  assert.equal(harness.cloud.released, [])
  assert.is(harness.api.stored(services)[0]?.spec.loadBalancerIP, '203.0.113.8')
})

test('a reservation that is not granted yet is adopted into a Requested record', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, state: 'requested', address: undefined })
  harness.addService(makeService())
  const process = await sweepTimes(harness, 1)
  assert.is(harness.record()?.status?.phase, 'Requested')
  harness.cloud.grant('res-8')
  assert.is((await process.claim()).kind, 'held')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('a reservation whose record waits for it is adopted into that record', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
  await sweepTimes(harness, 1)
  assert.equal([harness.record()?.status?.phase, harness.record()?.status?.address], ['Reserved', '203.0.113.8'])
})

test('a reservation is not adopted into a record with a request in flight', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const requestInFlight = { sender: 'another', sentAt: '2026-01-31T08:59:59Z' }
  harness.api.put(elasticIPs, makeRecord({ phase: 'Requested', requestInFlight }))
  const process = harness.process('sweeper')
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, undefined)
  assert.not(await isAdopted(harness))
  harness.advance(timeoutMs)
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, 'res-8')
})

test('a reservation whose record another process created meanwhile is not adopted, and the sweep is not complete', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.addService(makeService())
  const meanwhile = {
    before: ({ verb, values }: HeardCall) =>
      void (
        verb === 'create' &&
        values[0] === elasticIPs &&
        !harness.record() &&
        harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
      ),
  }
  const process = harness.process('sweeper', { kube: meanwhile })
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, undefined)
  assert.not(await isAdopted(harness))
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, 'res-8')
  assert.ok(await isAdopted(harness))
})

test('a reservation that was released while the list was read is not adopted', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.alone('a').claim()
  const deletedAndMadeAnew = {
    after: async ({ verb }: { verb: string }) => {
      if (verb !== 'reservations') return
      await harness.alone('b').release()
      harness.addService(makeService())
    },
  }
  await sweepTimes(harness, 1, harness.alone('sweeper', { cloud: deletedAndMadeAnew }))
  assert.is(harness.record(), undefined)
  const claimed = await harness.alone('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
})

test('an orphan is released when a second sweep agrees and the grace period is over', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  await sweepTimes(harness, 1)
  assert.equal(harness.cloud.released, [])
  const process = await sweepTimes(harness, 1)
  assert.equal(harness.cloud.released, [], 'a process that began again has seen it once')
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
  assert.not(await isAdopted(harness))
  await process.sweep(neverAborted)
  assert.ok(await isAdopted(harness))
})

test('what a leader suspected in a previous term is suspected again', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const process = await sweepTimes(harness, 1)
  // Another process led meanwhile.
  process.heartbeats.reset(0)
  for (let ms = 0; ms < graceMs; ms += graceMs / 20) {
    await process.sweep(neverAborted)
    assert.equal(harness.cloud.released, [])
    harness.advance(graceMs / 20)
  }
  harness.advance(graceMs + 1_000)
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
})

test('while the API server lists no records, the grace period of orphans does not advance', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const kube: Hooks = {}
  const process = harness.process('sweeper', { kube })
  // The ElasticIP CRD is gone, and with it every record.
  kube.before = ({ values: [resource] }) => {
    if (resource === elasticIPs) throw new KubeError('no such kind', { status: 404, reason: 'NotFound' })
  }
  for (let n = 0; n < 3; n += 1) {
    const [unlisted] = await Promise.allSettled([process.sweep(neverAborted)])
    assert.is(unlisted.status, 'rejected')
    harness.advance(graceMs + 1_000)
  }
  kube.before = undefined
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, [], 'a person has not applied the records yet')
  harness.api.put(elasticIPs, makeRecord({ ...held, phase: 'Released' }))
  await sweepTimes(harness, 3, process)
  assert.equal(harness.cloud.released, [])
})

test('a sweep without an orphan asks the API server for no list of records', async () => {
  const harness = makeHarness()
  const kube: Hooks = {}
  let lists = 0
  kube.before = ({ verb, values: [resource] }) => {
    if (verb === 'list' && resource === elasticIPs) lists += 1
  }
  const process = harness.process('sweeper', { kube })
  for (const orphans of [[], [old]]) {
    for (const one of orphans) harness.cloud.put(one)
    lists = 0
    await process.sweep(neverAborted)
    assert.is(lists, orphans.length)
  }
})

test("the ledger's ConfigMap names the orphans as long as there are any", async () => {
  const harness = makeHarness()
  const named = () => listedOrphans(harness.api.stored(configMaps)[0])
  harness.cloud.put(old)
  const process = await sweepTimes(harness, 1)
  assert.equal(named(), [{ id: 'res-8', address: '203.0.113.8' }])
  harness.cloud.put({ ...old, id: 'res-9', address: undefined })
  await process.sweep(neverAborted)
  assert.equal(named(), [
    { id: 'res-8', address: '203.0.113.8' },
    { id: 'res-9', address: undefined },
  ])
  while (harness.cloud.reserved().length > 0) await sweepTimes(harness, 1, process)
  await process.sweep(neverAborted)
  assert.equal(named(), [])
})

test('an orphan within the grace period is not released, however many sweeps see it', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, createdAt: harness.now().toISOString() })
  const process = harness.process('sweeper')
  for (let n = 0; n < 5; n += 1) await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, [])
  harness.advance(graceMs + 1)
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
})

test('one sweep releases at most a tenth of all reservations', async () => {
  const harness = makeHarness()
  for (let n = 0; n < 40; n += 1) harness.cloud.put({ ...old, id: `old-${n}`, marks: of(`gone-${n}`) })
  const process = await sweepTimes(harness, 2)
  assert.is(harness.cloud.released.length, 4)
  await process.sweep(neverAborted)
  assert.is(harness.cloud.released.length, 7, 'a tenth of the 36 that are left')
})

test('orphans that the provider does not delete do not count towards that tenth', async () => {
  const harness = makeHarness()
  for (let n = 0; n < 20; n += 1) harness.cloud.put({ ...old, id: `old-${n}`, marks: of(`gone-${n}`) })
  const refused = new Set(['old-0', 'old-1'])
  const process = harness.process('sweeper', {
    cloud: {
      before: ({ verb, values: [released] }) => {
        if (verb !== 'release' || !refused.has((released as Marked).id)) return
        throw new CloudError('a machine uses it', { fault: 'conflict', outcome: 'nothing' })
      },
    },
  })
  await sweepTimes(harness, 1, process)
  const [swept] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(swept.status, 'rejected')
  assert.equal(harness.cloud.released, ['old-2', 'old-3'])
})

test('an unreadable provider causes no release, and suspects stay suspects', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const process = await sweepTimes(harness, 1)
  harness.cloud.unreadable = true
  const [unread] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(unread.status, 'rejected')
  assert.equal(harness.cloud.released, [])
  harness.cloud.unreadable = false
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
})

test("a predecessor's reservation is found even if the process that swept before leads again", async () => {
  const harness = makeHarness()
  await sweepTimes(harness, 1)
  harness.setLeader('predecessor')
  harness.cloud.put(old)
  harness.setLeader('leader')
  harness.advance(2_000)
  assert.not(await isAdopted(harness))
  const process = harness.process('webhook')
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.8')
  assert.is(harness.cloud.calls.reserve, 0)
  await sweepTimes(harness, 1)
  assert.ok(await isAdopted(harness))
})

test('a process that no longer leads sets no adoption mark', async () => {
  const harness = makeHarness()
  harness.setLeader('predecessor')
  await sweepTimes(harness, 1)
  assert.not(await isAdopted(harness))
})

test('after etcd was restored to an earlier term of this leader, its next term begins without the mark', async () => {
  const harness = makeHarness()
  // The lease and the mark of the backup fit each other; the record of a later Service is not in it.
  harness.setAdoptionMark()
  harness.cloud.put(old)
  harness.cloud.unreadable = true
  const [unread] = await Promise.allSettled([harness.process('leader').sweep(neverAborted)])
  assert.is(unread.status, 'rejected')
  assert.not(await isAdopted(harness), 'also before it could read the provider')
  harness.cloud.unreadable = false
  const claimed = await harness.process('webhook').claim()
  assert.equal([claimed.kind === 'held' && claimed.address, harness.cloud.calls.reserve], ['203.0.113.8', 0])
})

test('after its record is lost, a Service gets its address again, not a second one', async () => {
  const harness = makeHarness()
  const process = await sweepTimes(harness, 1)
  assert.ok(await isAdopted(harness))
  harness.cloud.put(old)
  await sweepTimes(harness, 1, process)
  assert.not(await isAdopted(harness))
  const claimed = await harness.process('webhook').claim()
  assert.equal([claimed.kind === 'held' && claimed.address, harness.cloud.calls.reserve], ['203.0.113.8', 0])
  await sweepTimes(harness, 1, process)
  assert.ok(await isAdopted(harness), 'all have a record again')
})

test('a reservation whose request is in flight leaves the mark set, because its record exists', async () => {
  const harness = makeHarness()
  const process = await sweepTimes(harness, 1)
  harness.cloud.put(old)
  const requestInFlight = { sender: 'another', sentAt: harness.now().toISOString() }
  harness.api.put(elasticIPs, makeRecord({ phase: 'Requested', requestInFlight }))
  await process.sweep(neverAborted)
  assert.is(harness.record()?.status?.reservationID, undefined)
  assert.ok(await isAdopted(harness))
})

test('a reservation that could not be adopted and has no record removes the mark', async () => {
  const harness = makeHarness()
  const refusing: Hooks = {}
  const process = await sweepTimes(harness, 1, harness.process('sweeper', { kube: refusing }))
  harness.cloud.put(old)
  harness.addService(makeService())
  refusing.before = ({ verb, values }) => {
    if (verb === 'create' && values[0] === elasticIPs)
      throw new KubeError('no such kind', { status: 404, reason: 'NotFound' })
  }
  await process.sweep(neverAborted)
  assert.equal([harness.record(), await isAdopted(harness)], [undefined, false])
})

test("another cluster's reservations are neither adopted nor released", async () => {
  const harness = makeHarness()
  const theirs = { ...of('web'), cluster: 'cluster-2' }
  harness.cloud.put({ ...old, marks: theirs })
  harness.addService(makeService())
  await sweepTimes(harness, 4)
  assert.equal([harness.record(), harness.cloud.released], [undefined, []])
  assert.ok(await isAdopted(harness))
})

test('of two reservations for one Service the one that it shows is adopted, the other is reported and kept', async () => {
  const harness = makeHarness()
  const younger: Reservation = { ...old, id: 'res-9', address: '203.0.113.9', createdAt: '2026-01-31T08:30:00Z' }
  harness.cloud.put(old)
  harness.cloud.put(younger)
  harness.addService(makeService({ loadBalancerIP: '203.0.113.9' }))
  const process = await sweepTimes(harness, 1)
  assert.is(harness.record()?.status?.address, '203.0.113.9')
  await sweepTimes(harness, 2, process)
  assert.equal(harness.cloud.released, [])
  assert.ok(await isAdopted(harness))
  assert.is(harness.warnings.length, 3)
  assert.match(
    harness.warnings[0] ?? '',
    /^default\/web: Reservation res-8 \(203.0.113.8\) .* the Service has 203.0.113.9/,
  )
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  await process.release()
  await sweepTimes(harness, 2, process)
  assert.ok(harness.cloud.released.includes('res-8'), 'without the Service it is an orphan')
})

test("a predecessor's reservation that appears after the first sweep is found, because another process led", async () => {
  const harness = makeHarness()
  await sweepTimes(harness, 1)
  assert.ok(await isAdopted(harness))
  harness.setLeader('predecessor')
  harness.cloud.put(old)
  harness.advance(2_000)
  assert.not(await isAdopted(harness))
  const claimed = await harness.process('webhook').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.8')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('an address that a live Service shows is never released, even if its record has another one', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.addService(makeService({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.8' }] } } }))
  harness.api.put(elasticIPs, makeRecord({ phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' }))
  await sweepTimes(harness, 4)
  assert.equal(harness.cloud.released, [])
})

test('an orphan that a claim uses during the sweep is not released', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, id: 'gone', address: '203.0.113.7', marks: of('gone') })
  harness.cloud.put({ ...old, id: 'wanted', createdAt: '2026-01-31T08:30:00Z' })
  for (let n = 0; n < 18; n += 1)
    harness.cloud.put({ ...old, id: `later-${n}`, createdAt: '2026-01-31T08:50:00Z', marks: of(`${n}`) })
  const claiming = harness.process('a')
  const meanwhile = {
    before: async ({ verb, values }: { verb: string; values: unknown[] }) => {
      if (verb === 'release' && (values[0] as Marked).id === 'gone') await claiming.claim()
    },
  }
  await sweepTimes(harness, 2, harness.process('sweeper', { cloud: meanwhile }))
  assert.is(harness.record()?.status?.reservationID, 'wanted')
  assert.equal(harness.cloud.released, ['gone'])
})

test('no Service gets an orphan that is being deleted, however long the provider lists it', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.cloud.deletesLate = true
  const process = await sweepTimes(harness, 2)
  assert.equal(harness.cloud.released, ['res-8'])
  const [returning] = harness.api.stored(elasticIPs)
  assert.equal([returning?.status?.phase, returning?.status?.address], ['Releasing', '203.0.113.8'])
  harness.addService(makeService())
  await sweepTimes(harness, 2, process)
  await sweepTimes(harness, 2, harness.process('another'))
  assert.is(harness.record(), undefined)
  const claimed = await harness.process('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  harness.cloud.settle()
  await process.sweep(neverAborted)
  assert.equal(
    harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.web'],
  )
  assert.equal(harness.reservationsOf(), ['res-1'])
})

test('a reservation that was deleted while the list was read does not become an orphan again', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  harness.cloud.deletesLate = true
  const cloud: Hooks = {}
  const process = await sweepTimes(harness, 2, harness.process('a', { cloud }))
  cloud.after = ({ verb }) => void (verb === 'reservations' && harness.cloud.settle())
  const before = harness.cloud.calls.release
  await process.sweep(neverAborted)
  assert.equal([harness.cloud.calls.release - before, harness.api.stored(elasticIPs)], [1, []])
})

test('an orphan that cannot be released does not hold up the others, and its reason is thrown', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, id: 'used', address: '203.0.113.7', marks: of('gone') })
  harness.cloud.refusesRelease = 'conflict'
  const process = await sweepTimes(harness, 1)
  await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(harness.cloud.calls.release, 1)
  harness.cloud.put(old)
  harness.addService(makeService())
  const [swept] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.ok(swept.status === 'rejected' && swept.reason instanceof AggregateError)
  assert.match(swept.reason.message, 'sweep: the scripted cloud says conflict')
  assert.is(harness.record()?.status?.reservationID, 'res-8')
  harness.cloud.refusesRelease = undefined
  await process.sweep(neverAborted)
  assert.equal([harness.reservationsOf(), harness.cloud.released], [['res-8'], ['used']])
})

test('a claim and a sweep never both get the same orphan, whichever call comes first', async () => {
  for (let nth = 1; nth <= 12; nth += 1) {
    const harness = makeHarness()
    harness.cloud.put(old)
    const claiming = harness.process('claiming')
    let calls = 0
    const meanwhile = async () => {
      calls += 1
      if (calls === nth) await claiming.claim()
    }
    const process = harness.process('sweeper')
    await process.sweep(neverAborted)
    harness.advance(graceMs + 1_000)
    const busy = harness.process('busy', { kube: { before: meanwhile }, cloud: { before: meanwhile } })
    await busy.sweep(neverAborted)
    await busy.sweep(neverAborted)
    await claiming.claim()
    const { reservationID = '' } = harness.record()?.status ?? {}
    assert.ok(
      harness.reservationsOf().includes(reservationID),
      `call ${nth}: the record holds ${reservationID}, which went`,
    )
  }
})

test('a release that a process began is completed by the sweep of the next process', async () => {
  for (let nth = 1; nth <= 6; nth += 1) {
    const harness = makeHarness()
    harness.cloud.put(old)
    let calls = -1
    const cut = {
      before: ({ verb, values }: HeardCall) => {
        if (verb === 'create' && values[0] === elasticIPs && calls < 0) calls = 0
        if (calls >= 0) calls += 1
        if (calls >= nth) throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
      },
    }
    const process = harness.process('cut', { kube: cut, cloud: cut })
    await process.sweep(neverAborted)
    harness.advance(graceMs + 1_000)
    await Promise.allSettled([process.sweep(neverAborted)])
    await sweepTimes(harness, 4)
    assert.equal([harness.reservationsOf(), harness.api.stored(elasticIPs)], [[], []], `call ${nth}`)
  }
})

test('an adopted address without a location is written off when the provider lost it', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, location: undefined })
  harness.addService(makeService())
  const process = await sweepTimes(harness, 1)
  await harness.cloud.cloud.release({ id: 'res-8', marks: {} }, neverAborted)
  await sweepTimes(harness, 2, process)
  assert.equal([harness.record()?.status?.phase, harness.record()?.status?.reservationID], ['Requested', undefined])
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.record()?.spec.location, 'da')
})

test('a release that the provider refuses is repeated by the next sweep', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const process = await sweepTimes(harness, 1)
  harness.cloud.refusesRelease = 'conflict'
  const [refused] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(refused.status, 'rejected')
  harness.cloud.refusesRelease = undefined
  await process.sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
})

test('a denied reservation is deleted', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, state: 'denied', address: undefined })
  harness.addService(makeService())
  await sweepTimes(harness, 2)
  assert.equal([harness.record(), harness.cloud.released], [undefined, ['res-8']])
})

test('an aborted sweep releases nothing more', async () => {
  const harness = makeHarness()
  for (let n = 0; n < 40; n += 1) harness.cloud.put({ ...old, id: `old-${n}`, marks: of(`gone-${n}`) })
  const stop = new AbortController()
  const lastOne = { after: ({ verb }: { verb: string }) => void (verb === 'release' && stop.abort()) }
  const process = harness.process('sweeper', { cloud: lastOne })
  await process.sweep(stop.signal)
  harness.advance(graceMs + 1)
  const [stopped] = await Promise.allSettled([process.sweep(stop.signal)])
  assert.is(stopped.status, 'rejected')
  assert.is(harness.cloud.released.length, 1)
})

const held = { phase: 'Bound', address: '203.0.113.8', reservationID: 'res-8' } as const

test('an address that the provider lost is written off when two sweeps miss it, and the Service gets another', async () => {
  const harness = makeHarness()
  harness.addService(makeService())
  harness.api.put(elasticIPs, makeRecord(held))
  const process = await sweepTimes(harness, 1)
  assert.is(harness.record()?.status?.phase, 'Bound')
  await sweepTimes(harness, 1, process)
  const { phase, address, message } = harness.record()?.status ?? {}
  assert.equal([phase, address], ['Requested', undefined])
  assert.match(message ?? '', 'no longer has 203.0.113.8, reservation res-8')
  const claimed = await process.claim()
  assert.is(claimed.kind, 'held')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('when the provider lists none of several reservations, nothing is written off until a person confirms it', async () => {
  const harness = makeHarness()
  const phases = () => ['default/web', 'default/db'].map((key) => harness.record(key)?.status?.phase)
  for (const [n, name] of ['web', 'db'].entries()) {
    harness.addService(makeService({ name }))
    const record = makeRecord(
      { ...held, reservationID: `res-${n}`, address: `203.0.113.${n}` },
      { claimRef: { namespace: 'default', name } },
    )
    harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, name: `default.${name}` } })
  }
  await sweepTimes(harness, 4)
  assert.equal([phases(), harness.warnings.at(-1)], [['Bound', 'Bound'], 'nothing is written off'])
  const confirmed = harness.process('sweeper', { confirmsLoss: true })
  await sweepTimes(harness, 2, confirmed)
  assert.equal(new Set(phases()), new Set(['Bound', 'Requested']))
})

const marksOfOther = (name: string) => serviceMarks({ ...scheme, cluster: 'other' }, `default/${name}`)

/** Two Services whose reservations name a former id of this cluster, and what the sweeps say about them. */
function withFormerId() {
  const harness = makeHarness()
  for (const [n, name] of ['web', 'db'].entries()) {
    const status = { ...held, reservationID: `res-${n}`, address: `203.0.113.${n}` }
    const record = makeRecord(status, { claimRef: { namespace: 'default', name } })
    harness.addService(makeService({ name, uid: name }))
    harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, name: `default.${name}`, uid: name } })
    harness.cloud.put({ ...old, id: `res-${n}`, address: `203.0.113.${n}`, marks: marksOfOther(name) })
  }
  const phases = () => ['web', 'db'].map((name) => harness.record(`default/${name}`)?.status?.phase)
  return { harness, phases }
}

test('after a change of the cluster id no sweep says that the project is another one, or that marks are changed', async () => {
  const { harness, phases } = withFormerId()
  const warn = mock.method(silentLog, 'warn')
  try {
    await sweepTimes(harness, 5)
    assert.equal([harness.warnings, warn.mock.callCount()], [[], 0])
    assert.equal([phases(), harness.cloud.released], [['Bound', 'Bound'], []])
  } finally {
    warn.mock.restore()
  }
})

test('after a change of the cluster id an older address that the provider lost is written off', async () => {
  const { harness, phases } = withFormerId()
  await harness.cloud.cloud.release({ id: 'res-1', marks: {} }, neverAborted)
  await sweepTimes(harness, 3)
  assert.equal([harness.warnings, phases()], [[], ['Bound', 'Requested']])
})

test('an address that only the list lacks is kept', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, marks: {} })
  harness.addService(makeService())
  harness.api.put(elasticIPs, makeRecord(held))
  await sweepTimes(harness, 4)
  assert.is(harness.record()?.status?.phase, 'Bound')
})

test('an address that only the list lacks does not keep another one from being written off', async () => {
  const harness = makeHarness()
  harness.cloud.put({ ...old, marks: {} })
  harness.cloud.put(makeReservation({ id: 'res-1', marks: of('third') }))
  const phases = () => ['web', 'db'].map((name) => harness.record(`default/${name}`)?.status?.phase)
  for (const [n, name] of ['web', 'db'].entries()) {
    const status = { ...held, reservationID: `res-${8 + n}`, address: `203.0.113.${8 + n}` }
    const record = makeRecord(status, { claimRef: { namespace: 'default', name } })
    harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, name: `default.${name}`, uid: name } })
    harness.addService(makeService({ name, uid: name }))
  }
  harness.addService(makeService({ name: 'third', uid: 'third' }))
  await sweepTimes(harness, 3)
  assert.equal(phases(), ['Bound', 'Requested'])
})

test('of many that only the lists miss, a tenth is looked up in one sweep, and each has its turn', async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'res-ours', marks: of('third') }))
  const all = Array.from({ length: 30 }, (_, n) => `s${n}`)
  for (const [n, name] of all.entries()) {
    const status = { ...held, reservationID: `res-${n}`, address: `203.0.113.${n}` }
    const record = makeRecord(status, { claimRef: { namespace: 'default', name } })
    harness.api.put(elasticIPs, { ...record, metadata: { ...record.metadata, name: `default.${name}`, uid: name } })
    harness.addService(makeService({ name, uid: name }))
    if (n < 29) harness.cloud.put(makeReservation({ id: `res-${n}`, address: `203.0.113.${n}`, marks: {} }))
  }
  harness.addService(makeService({ name: 'third', uid: 'third' }))
  const process = await sweepTimes(harness, 1)
  for (let n = 0; n < 10; n += 1) {
    const before = harness.cloud.calls.reservation
    await sweepTimes(harness, 1, process)
    assert.is(harness.cloud.calls.reservation - before, 3)
  }
  const phases = all.map((name) => harness.record(`default/${name}`)?.status?.phase)
  assert.equal(phases, [...all.slice(1).map(() => 'Bound'), 'Requested'])
})

for (const { name, marks, phase } of [
  { name: 'another cluster has for another Service is written off', marks: marksOfOther('db'), phase: 'Requested' },
  { name: 'this cluster reserved under a previous id is kept', marks: marksOfOther('web'), phase: 'Bound' },
]) {
  test(`an address whose id ${name}`, async () => {
    const harness = makeHarness()
    harness.cloud.put({ ...old, marks })
    harness.addService(makeService())
    harness.api.put(elasticIPs, makeRecord(held))
    await sweepTimes(harness, 3)
    assert.equal([harness.record()?.status?.phase, harness.cloud.released], [phase, []])
  })
}

for (const { name, owner, stays } of [
  { name: 'another cluster has by now is written off', owner: { service: 'one-of-theirs' }, stays: [] },
  { name: 'another cluster has in its pool is written off', owner: { 'elastic-ip': 'theirs' }, stays: [] },
  { name: 'this cluster reserved under a previous id is kept', owner: { 'elastic-ip': 'warm' }, stays: ['warm-da-1'] },
]) {
  test(`a warm address whose id ${name}`, async () => {
    const harness = makeHarness()
    const marks = { ...clusterMarks({ ...scheme, cluster: 'other' }), ...owner }
    harness.cloud.put({ ...old, marks })
    const spec = { location: 'da', reclaimPolicy: 'Delete' } as const
    const warm = makeLot('warm-da-1', spec, { ...held, phase: 'Available' })
    const labels = { [warmLabel]: 'true' }
    harness.api.put(elasticIPs, { ...warm, metadata: { ...warm.metadata, uid: 'warm', labels } })
    await sweepTimes(harness, 3)
    const names = harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name)
    assert.equal([names, harness.cloud.released, harness.cloud.marked], [stays, [], []])
  })
}

test('an address to be retained stays when its record is restored without a status', async () => {
  const harness = makeHarness()
  harness.cloud.put(old)
  const claimRef = { namespace: 'default', name: 'web', uid: 'uid-1' }
  harness.api.put(elasticIPs, makeRecord(undefined, { reclaimPolicy: 'Retain', claimRef }))
  const process = await sweepTimes(harness, 1)
  await process.reconcile('default/web')
  harness.advance(graceMs + 1_000)
  await process.reconcile('default/web')
  assert.equal([harness.record()?.status?.phase, harness.cloud.released], ['Released', []])
})

test('the record of a retained address that the provider lost is removed', async () => {
  const harness = makeHarness()
  harness.api.put(elasticIPs, makeRecord({ ...held, phase: 'Released' }))
  await sweepTimes(harness, 2)
  assert.is(harness.record(), undefined)
})

test.run()
