// Who keeps an address from a new holder, and a reservation from its deletion.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { AddressInUse } from '../../../ledger/record/address-use.ts'
import { type ElasticIP, elasticIPs, releaseRecordName } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks, whoseIs } from '../../../ledger/record/marks.ts'
import { addressAnnotation, elasticIPAnnotation, transferAnnotation } from '../../../ledger/record/names.ts'
import { makeLot, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { type Harness, type Process, graceMs, makeHarness, neverAborted, scheme } from '../harness.ts'

const own = makeReservation({ id: 'own-1', address: '198.51.100.7' })
const key = 'default/web'

const stored = (harness: Harness, name: string) =>
  harness.api.stored(elasticIPs).find(({ metadata }) => metadata.name === name)
const guest = (address: string) =>
  makeService({
    name: 'guest',
    uid: 'uid-9',
    loadBalancerIP: address,
    status: { loadBalancer: { ingress: [{ ip: address }] } },
  })
const dropGuest = (harness: Harness) => harness.api.drop(services, { namespace: 'default', name: 'guest' })

/** ElasticIP office with the address of a reservation that is not ours. */
async function provisionedOffice(spec: Partial<ElasticIP['spec']> = {}, reservation = own) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.put(reservation)
  harness.api.put(elasticIPs, makeLot('office', { reservationID: own.id, reclaimPolicy: 'Delete', ...spec }))
  const process = harness.alone('a')
  const [first] = await Promise.allSettled([process.reconcileSource('office')])
  return { harness, process, problem: first.status === 'rejected' ? String(first.reason) : undefined }
}

/** The same, bound to Service web, which shows its address. */
async function lentOffice() {
  const { harness, process } = await provisionedOffice()
  assert.is((await process.claim({ elasticIP: 'office' })).kind, 'held')
  harness.addService(webService())
  await process.reconcile(key)
  await process.reconcileSource('office')
  assert.is(stored(harness, 'office')?.status?.phase, 'Bound')
  return { harness, process }
}

function webService(facts: Partial<Service['metadata']> = {}): Service {
  const annotations = { [elasticIPAnnotation]: 'office', [addressAnnotation]: '198.51.100.7' }
  return makeService({ annotations, loadBalancerIP: '198.51.100.7', ...facts })
}

/** Runs both controllers until they have nothing left to do, whatever they throw meanwhile. */
async function settle(harness: Harness, process: Process): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    for (const { metadata } of harness.api.stored(elasticIPs)) {
      await process.reconcileSource(metadata.name).catch(() => undefined)
    }
    await process.reconcile(key).catch(() => undefined)
  }
}

const changes: [string, (harness: Harness, office: ElasticIP) => void][] = [
  [
    'without claimRef',
    (harness, office) => {
      const { claimRef: _cleared, ...spec } = office.spec
      harness.api.put(elasticIPs, { ...office, spec })
    },
  ],
  [
    'without the uid of its claim',
    (harness, office) => {
      const claimRef = { namespace: 'default', name: 'web' }
      harness.api.put(elasticIPs, { ...office, spec: { ...office.spec, claimRef } })
    },
  ],
  [
    'with the claimRef of another Service',
    (harness, office) => {
      const claimRef = { namespace: 'default', name: 'other' }
      harness.api.put(elasticIPs, { ...office, spec: { ...office.spec, claimRef } })
    },
  ],
  [
    'that is Releasing',
    (harness, office) => {
      harness.api.put(elasticIPs, { ...office, status: { ...office.status, phase: 'Releasing' } })
    },
  ],
  ['whose record no longer exists', (harness) => harness.api.drop(elasticIPs, { name: 'default.web' })],
  [
    'whose claimRef and record no longer exist',
    (harness, office) => {
      const { claimRef: _cleared, ...spec } = office.spec
      harness.api.put(elasticIPs, { ...office, spec })
      harness.api.drop(elasticIPs, { name: 'default.web' })
    },
  ],
]

for (const [how, change] of changes) {
  test(`an address ${how} stays with the Service that shows it`, async () => {
    const { harness, process } = await lentOffice()
    change(harness, stored(harness, 'office') as ElasticIP)
    assert.is((await process.claim({ key: 'default/thief', elasticIP: 'office' })).kind, 'refused')
    await settle(harness, process)
    assert.is((await process.claim({ key: 'default/thief', elasticIP: 'office' })).kind, 'refused')
    const [office, record] = [stored(harness, 'office'), harness.record()]
    assert.equal([office?.status?.phase, record?.status?.phase], ['Bound', 'Bound'])
    assert.equal(office?.spec.claimRef, { namespace: 'default', name: 'web', elasticIPUID: record?.metadata.uid })
    assert.equal(harness.cloud.released, [])
  })
}

test('an address whose record no longer exists stays claimed while a Service shows it as its own, and is deleted afterwards', async () => {
  const { harness, process } = await lentOffice()
  harness.api.drop(elasticIPs, { name: 'default.web' })
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  harness.addService(guest('198.51.100.7'))
  const [kept] = await Promise.allSettled([process.reconcileSource('office')])
  assert.ok(kept.status === 'rejected' && kept.reason instanceof AddressInUse)
  assert.match(
    stored(harness, 'office')?.status?.message ?? '',
    'Service default/guest shows it in status.loadBalancer',
  )
  assert.is(stored(harness, 'office')?.status?.phase, 'Bound')
  dropGuest(harness)
  await settle(harness, process)
  assert.equal(harness.cloud.released, ['own-1'])
})

test('a deleted ElasticIP whose address a Service shows keeps its reservation until no Service shows it', async () => {
  const { harness, process } = await provisionedOffice()
  harness.addService(guest('198.51.100.7'))
  await process.client.remove(elasticIPs, { name: 'office' })
  await settle(harness, process)
  assert.equal(harness.cloud.released, [])
  assert.match(stored(harness, 'office')?.status?.message ?? '', 'is in use and stays reserved for now')
  dropGuest(harness)
  await settle(harness, process)
  assert.equal([harness.cloud.released, stored(harness, 'office')], [['own-1'], undefined])
})

test('an ElasticIP for an address that no Service can have is never available', async () => {
  const { harness, problem } = await provisionedOffice({}, { ...own, address: '127.0.0.1' })
  assert.match(problem ?? stored(harness, 'office')?.status?.message ?? '', /127\.0\.0\.1, which is a loopback address/)
  assert.is(stored(harness, 'office')?.status?.address, undefined)
})

test('a provisioned address without marks is deleted in the end, although the provider says once that it no longer exists', async () => {
  const { harness } = await provisionedOffice()
  let lies = 2
  const lying = harness.alone('b', {
    cloud: {
      before: ({ verb }) => {
        harness.cloud.idsLate = verb === 'reservation' && harness.cloud.calls.release > 0 && lies-- > 0
      },
    },
  })
  harness.cloud.deletesLate = true
  await lying.client.remove(elasticIPs, { name: 'office' })
  await lying.reconcileSource('office')
  assert.is(stored(harness, 'office'), undefined)
  assert.ok(stored(harness, releaseRecordName('own-1')), 'somebody still knows of the deletion')
  await lying.sweep(neverAborted)
  assert.ok(stored(harness, releaseRecordName('own-1')))
  harness.cloud.settle()
  await lying.sweep(neverAborted)
  assert.is(stored(harness, releaseRecordName('own-1')), undefined)
})

test('a warm address that a Service shows is not claimed, although the cache of the process does not show it yet', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a', { warmPool: 1 })
  await process.fillPool()
  await process.reconcileSource('warm-da-1')
  harness.addService(guest('203.0.113.1'))
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
  assert.is(stored(harness, 'warm-da-1')?.spec.claimRef, undefined)
})

test('a warm address that was in use is offered again when it is not', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a', { warmPool: 1 })
  await process.fillPool()
  await process.reconcileSource('warm-da-1')
  harness.addService(guest('203.0.113.1'))
  await process.claim()
  dropGuest(harness)
  const claimed = await process.claim({ key: 'default/second' })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
})

test('the address of a deleted Service stays reserved while a Service of another namespace shows it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  const shown = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } }
  const tenants = { namespace: 'tenant', name: 'guest', uid: 'guest' }
  harness.addService(makeService({ ...tenants, status: shown }))
  const [kept] = await Promise.allSettled([process.release()])
  assert.ok(kept.status === 'rejected' && kept.reason instanceof AddressInUse)
  assert.match(harness.record()?.status?.message ?? '', 'Service tenant/guest shows it')
  harness.addService(makeService(tenants))
  assert.is(await process.release(), 'released')
  assert.equal(harness.reservationsOf(), [])
})

test('when two records have one reservation, the released one leaves it to the other', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  const { status, spec } = harness.record() as ElasticIP
  const claimRef = { namespace: 'default', name: 'other' }
  harness.api.put(elasticIPs, {
    ...makeLot('default.other', { ...spec, claimRef }),
    status: { ...status, phase: 'Bound' },
  })
  assert.is(await process.release(), 'released')
  assert.equal([harness.cloud.released, harness.record()], [[], undefined])
})

test('an orphan that a Service began to show after the sweep listed Services stays', async () => {
  const harness = makeHarness()
  harness.cloud.put(
    makeReservation({ id: 'res-8', address: '203.0.113.8', marks: serviceMarks(scheme, 'default/gone') }),
  )
  const show = {
    after: ({ verb }: { verb: string }) => void (verb === 'create' && harness.addService(guest('203.0.113.8'))),
  }
  const process = harness.alone('sweeper', { kube: show })
  for (let n = 0; n < 3; n += 1) {
    await process.sweep(neverAborted)
    harness.advance(graceMs + 1_000)
    dropGuest(harness)
  }
  assert.equal(harness.cloud.released, [])
  assert.is(stored(harness, releaseRecordName('res-8')), undefined)
})

test('a deletion whose call was lost is not sent again while a Service shows the address', async () => {
  const harness = makeHarness()
  harness.cloud.put(
    makeReservation({ id: 'res-8', address: '203.0.113.8', marks: serviceMarks(scheme, 'default/gone') }),
  )
  const record = makeLot(releaseRecordName('res-8'), { reclaimPolicy: 'Delete', reservationID: 'res-8' })
  const deletionRequestedAt = '2026-01-31T09:00:00Z'
  const status = { phase: 'Releasing', address: '203.0.113.8', reservationID: 'res-8', deletionRequestedAt } as const
  harness.api.put(elasticIPs, { ...record, status })
  harness.addService(guest('203.0.113.8'))
  await harness.alone('a').sweep(neverAborted)
  assert.equal(harness.cloud.released, [])
  dropGuest(harness)
  await harness.alone('b').sweep(neverAborted)
  assert.equal(harness.cloud.released, ['res-8'])
})

const foreign = makeReservation({
  ...own,
  marks: { ...serviceMarks({ ...scheme, cluster: 'cluster-2' }, 'default/shop') },
})

test("another cluster's reservation is refused with its marks, and taken if an operator confirms it", async () => {
  const { harness, process, problem = '' } = await provisionedOffice({ reclaimPolicy: 'Retain' }, foreign)
  assert.match(problem, 'reservation own-1 belongs to another cluster according to its marks')
  assert.match(problem, 'cluster=cluster-2')
  assert.match(problem, `kubectl annotate eip office ${transferAnnotation}=cluster-2`)
  const office = stored(harness, 'office') as ElasticIP
  const annotations = { [transferAnnotation]: 'cluster-2' }
  harness.api.put(elasticIPs, { ...office, metadata: { ...office.metadata, annotations } })
  await process.reconcileSource('office')
  assert.is(stored(harness, 'office')?.status?.phase, 'Available')
  assert.equal(harness.cloud.reserved()[0]?.marks, { usage: scheme.usage, cluster: scheme.cluster })
  await process.client.remove(elasticIPs, { name: 'office' })
  await settle(harness, process)
  assert.equal([stored(harness, 'office'), harness.cloud.released], [undefined, []])
})

test('a reservation that another cluster took is not deleted with its Service', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  await harness.cloud.cloud.mark({ id: 'res-1', marks: {} }, { cluster: 'cluster-2' }, neverAborted)
  assert.is(await process.release(), 'released')
  assert.equal([harness.cloud.released, harness.record()], [[], undefined])
})

test('a reservation of several addresses is refused, and the message says what would be right', async () => {
  const { problem = '' } = await provisionedOffice({}, { ...own, prefixLength: 29 })
  assert.match(problem, 'reservation own-1 is the network 198.51.100.7/29; an ElasticIP is one address')
})

test('a claimRef that an operator wrote stays, and no other Service may claim the address', async () => {
  const claimRef = { namespace: 'default', name: 'web' }
  const { harness, process } = await provisionedOffice({ claimRef, reclaimPolicy: 'Retain' })
  const other = await process.claim({ key: 'default/other', elasticIP: 'office' })
  assert.match(other.kind === 'refused' ? other.reason : '', 'ElasticIP office is only for Service default/web')
  assert.is((await process.claim({ elasticIP: 'office' })).kind, 'held')
  harness.addService(webService())
  await settle(harness, process)
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  await settle(harness, process)
  assert.equal(stored(harness, 'office')?.spec.claimRef, claimRef)
  assert.is(stored(harness, 'office')?.status?.phase, 'Available')
})

test('only Services of the allowed namespaces may claim an address', async () => {
  const { process } = await provisionedOffice({ allowedNamespaces: ['team-a'] })
  const other = await process.claim({ elasticIP: 'office' })
  assert.match(other.kind === 'refused' ? other.reason : '', '(spec.allowedNamespaces: team-a)')
  assert.is((await process.claim({ key: 'team-a/web', elasticIP: 'office' })).kind, 'held')
})

test("a record of a Service that a person wrote with another cluster's reservation is refused", async () => {
  const { harness, claim } = byHand(foreign)
  const claimed = await claim()
  assert.match(
    claimed.kind === 'refused' ? claimed.reason : claimed.kind,
    'belongs to another cluster according to its marks',
  )
  assert.match(harness.record()?.status?.message ?? '', 'cluster=cluster-2')
})

test("a reservation with another Service's marks that a person wrote into a record is that record's from then on", async () => {
  const { harness, claim } = byHand({ ...own, marks: serviceMarks(scheme, 'default/shop') })
  assert.is((await claim()).kind, 'held')
  const [found] = harness.cloud.reserved()
  assert.equal(found?.marks, serviceMarks(scheme, 'default/web'))
  const rules = { scheme, sweepsUntagged: false }
  assert.equal(found && whoseIs(rules, harness.record() as ElasticIP, found), { whose: 'ours', isLost: false })
})

test('an address that the provider did not find is checked again soon, and then its records say that it is lost', async () => {
  const { harness, process } = await lentOffice()
  await harness.cloud.cloud.release({ id: 'own-1', marks: {} }, neverAborted)
  harness.advance(300_000)
  assert.equal(await process.reconcileSource('office'), { againInMs: 30_000 })
  assert.is(harness.record()?.status?.phase, 'Bound', 'one look proves nothing')
  harness.advance(30_000)
  await process.reconcileSource('office')
  for (const record of [harness.record(), stored(harness, 'office')]) {
    assert.match(record?.status?.message ?? '', 'no longer has 198.51.100.7, reservation own-1')
    assert.is(record?.status?.address, undefined)
  }
})

for (const refusesRelease of [undefined, 'unavailable'] as const)
  test(`a record that a person wrote for a reservation that is being deleted is refused, ${refusesRelease ? 'although the provider has not answered yet' : 'although the provider still has it'}`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const process = harness.alone('a')
    await process.claim({ key: 'default/old' })
    Object.assign(harness.cloud, { deletesLate: true, refusesRelease })
    await Promise.allSettled([process.release('default/old')])
    const claimRef = { namespace: 'default', name: 'web' }
    harness.api.put(elasticIPs, makeLot('default.web', { claimRef, reservationID: 'res-1', reclaimPolicy: 'Retain' }))
    const claimed = await process.claim()
    assert.match(claimed.kind === 'refused' ? claimed.reason : claimed.kind, 'res-1 is being deleted')
  })

test('a record of a Service that a person wrote with an address in use is refused', async () => {
  const { harness, claim } = byHand(own)
  harness.addService(guest('198.51.100.7'))
  const claimed = await claim()
  assert.match(claimed.kind === 'refused' ? claimed.reason : claimed.kind, 'Service default/guest shows it')
  dropGuest(harness)
  assert.is((await claim()).kind, 'held')
})

test('of two Services that claim one address at the same time one gets it, and the refusal of the other names it', async () => {
  for (let round = 0; round < 40; round += 1) {
    const { harness } = await provisionedOffice()
    const slow = harness.alone('slow', { kube: { before: () => sleep(Math.random() * 4) } })
    const keys = ['default/one', 'default/two']
    const claims = await Promise.all(keys.map((one) => slow.claim({ key: one, elasticIP: 'office', wait: true })))
    const winner = keys[claims.findIndex(({ kind }) => kind === 'held')]
    const refused = claims.find((claimed) => claimed.kind === 'refused')
    assert.match(refused?.reason ?? '', `ElasticIP office is held by Service ${winner}; delete that Service first`)
  }
})

test('an address that another record claimed a moment ago, and does not hold yet, stays with that one', async () => {
  const { harness } = await provisionedOffice()
  const claimRef = { namespace: 'default', name: 'db', elasticIPUID: 'uid-of-db' }
  const before = ({ verb, values: [, of] }: HeardCall) => {
    const office = stored(harness, 'office')
    const isClaim = verb === 'replace' && (of as ElasticIP).metadata.name === 'office'
    if (isClaim && office?.spec.claimRef === undefined)
      harness.api.put(elasticIPs, { ...(office as ElasticIP), spec: { ...(office as ElasticIP).spec, claimRef } })
  }
  const claimed = await harness.alone('b', { kube: { before } }).claim({ elasticIP: 'office' })
  assert.match(
    claimed.kind === 'refused' ? claimed.reason : claimed.kind,
    'ElasticIP office is held by Service default/db',
  )
  assert.equal(stored(harness, 'office')?.spec.claimRef, claimRef)
})

test('an address that is being released stays with a new Service of the name whose user wrote it as its own', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  const record = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, status: { ...record.status, phase: 'Releasing' } })
  harness.addService(makeService({ loadBalancerIP: '203.0.113.1' }))
  await settle(harness, process)
  assert.equal([harness.cloud.released, harness.record()?.status?.phase], [[], 'Bound'])
  const annotations = harness.api.stored(services)[0]?.metadata.annotations
  assert.is(annotations?.[addressAnnotation], '203.0.113.1')
})

/** A record of Service web as a person writes it for a reservation that exists. */
function byHand(reservation: typeof own) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.put(reservation)
  const claimRef = { namespace: 'default', name: 'web' }
  harness.api.put(elasticIPs, makeLot('default.web', { claimRef, reservationID: own.id, reclaimPolicy: 'Retain' }))
  const process = harness.alone('a')
  return { harness, claim: () => process.claim() }
}

test.run()
