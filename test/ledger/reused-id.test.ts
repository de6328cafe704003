// The cloud gives the id of a deleted reservation, and often its address, to whoever orders next.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, elasticIPs, releaseRecordName } from '../../ledger/record/elastic-ip.ts'
import { services } from '../../kube/resource.ts'
import { bind } from '../../ledger/claim/stored-record.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { releaseSource } from '../../ledger/release/release.ts'
import { makeLot, makeReservation, makeService } from '../builders.ts'
import { type Harness, type Process, type ProcessOptions, makeHarness, neverAborted, scheme } from './harness.ts'

/** A cluster whose Service default/web has an address, and the process that leads. */
async function withAddress(options?: ProcessOptions): Promise<{ harness: Harness; leader: Process }> {
  const harness = makeHarness()
  harness.cloud.recycles = true
  harness.setProject()
  harness.setAdoptionMark()
  const leader = harness.alone('leader', options)
  assert.is((await leader.claim()).kind, 'held')
  harness.addService(makeService({ loadBalancerIP: '203.0.113.1' }))
  await bind(leader.deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  return { harness, leader }
}

/** Another program orders an address, and the cloud gives it the id of ours; its own server has it at once. */
const theirs = (address: string) => makeReservation({ id: 'res-1', address, marks: {}, holder: 'server theirs' })

async function sweepTwice({ sweep }: Process): Promise<void> {
  for (let n = 0; n < 3; n += 1) await Promise.allSettled([sweep(neverAborted)])
}

for (const address of ['203.0.113.1', '203.0.113.99'])
  test(`a deletion whose answer is lost does not continue with the next order of that id, ${address}`, async () => {
    const taken: string[] = []
    let isLost = true
    const { harness, leader } = await withAddress({
      cloud: {
        after({ verb }) {
          if (verb !== 'release' || !isLost) return
          isLost = false
          harness.cloud.put(theirs(address))
          throw new CloudError('cut off', { fault: 'unavailable', outcome: 'unknown' })
        },
      },
    })
    harness.api.drop(services, makeService().metadata)
    const deps = { ...leader.deps, unassign: async (id: string) => void taken.push(id) }
    const process = { ...leader, deps }
    const [first] = await Promise.allSettled([process.release()])
    assert.is(first.status, 'rejected')
    assert.is(await process.release(), 'released', 'the Service does not hang in its deletion')
    await sweepTwice(leader)
    assert.equal([taken, harness.cloud.released], [[], ['res-1']])
    assert.equal(harness.cloud.reserved(), [theirs(address)])
    assert.equal(harness.record(), undefined)
  })

test('a Service whose id now belongs to an unmarked address gets another one', async () => {
  const { harness, leader } = await withAddress()
  harness.cloud.put(theirs('203.0.113.99'))
  await sweepTwice(leader)
  assert.is(harness.record()?.status?.address, undefined)
  assert.equal(harness.cloud.reserved(), [theirs('203.0.113.99')])
})

test('a Service whose reservation lost its marks keeps its address, and gets an Event', async () => {
  const { harness, leader } = await withAddress()
  harness.cloud.put(theirs('203.0.113.1'))
  await sweepTwice(leader)
  assert.is(harness.record()?.status?.address, '203.0.113.1')
  assert.match(harness.warnings.join(), 'it has no marks of this cluster: it is neither moved nor deleted')
  assert.equal(harness.cloud.marked, [])
})

test('an address that the provider gave to another of our Services is written off, and both Services have one', async () => {
  const { harness, leader } = await withAddress()
  await harness.cloud.cloud.release({ id: 'res-1', marks: {} }, neverAborted)
  assert.is((await leader.claim({ key: 'default/next' })).kind, 'pending')
  await sweepTwice(leader)
  const web = await leader.claim()
  assert.is(web.kind, 'held')
  const address = web.kind === 'held' ? web.address : ''
  harness.addService(makeService({ loadBalancerIP: address }))
  const next = await leader.claim({ key: 'default/next' })
  assert.equal([next.kind === 'held' && next.address, address], ['203.0.113.1', '203.0.113.2'])
})

/** The cloud has granted the address of default/web a second time, for default/next, and then changed the first grant. */
async function withDoubledAddress(options?: ProcessOptions): Promise<{ harness: Harness; leader: Process }> {
  const { harness, leader } = await withAddress(options)
  harness.addService(makeService({ name: 'next', uid: 'next' }))
  harness.cloud.doubles = () => ['203.0.113.1']
  harness.cloud.fates.push('doubled')
  assert.is((await leader.claim({ key: 'default/next' })).kind, 'pending')
  harness.cloud.put(
    makeReservation({ id: 'res-1', address: '203.0.113.99', marks: serviceMarks(scheme, 'default/web') }),
  )
  return { harness, leader }
}

/** Reconciles both Services until no reconcile changes anything. */
async function reconcileBoth(process: Process): Promise<void> {
  for (let n = 0; n < 8; n += 1) for (const key of ['default/web', 'default/next']) await process.reconcile(key)
}

test('an address that now belongs to the reservation of another Service goes there, and both have one', async () => {
  const { harness, leader } = await withDoubledAddress()
  await reconcileBoth(leader)
  assert.is(harness.record('default/next')?.status?.address, undefined)
  await sweepTwice(leader)
  harness.advance(60_000)
  await reconcileBoth(leader)
  const shown = harness.api.stored(services).map(({ metadata, spec }) => `${metadata.name} ${spec.loadBalancerIP}`)
  assert.equal(shown, ['web 203.0.113.99', 'next 203.0.113.1'])
  const held = ['default/web', 'default/next'].map((key) => harness.record(key)?.status?.address)
  assert.equal(held, ['203.0.113.99', '203.0.113.1'])
  assert.match(harness.warnings.join(), 'has 203.0.113.1 in reservation res-2 of another ElasticIP')
})

const listedOnly: ProcessOptions = {
  cloud: { before: ({ verb }) => void (verb === 'reservation' && granted?.cloud.put(nextAt('203.0.113.2'))) },
}
let granted: Harness | undefined
const nextAt = (address: string, key = 'default/next') =>
  makeReservation({ id: 'res-2', address, marks: serviceMarks(scheme, key) })

type Keeping = { name: string; sweeps?: number; options?: ProcessOptions; change?: (harness: Harness) => void }
const keeping: Keeping[] = [
  { name: 'for one sweep', sweeps: 1 },
  { name: 'where the marks name no Service', change: ({ cloud }) => cloud.put(nextAt('203.0.113.1', 'default/else')) },
  { name: 'where no ElasticIP has that reservation', change: dropNext },
  { name: 'where only lists show it', options: listedOnly, change: (harness) => void (granted = harness) },
]
for (const { name, sweeps = 3, options, change } of keeping)
  test(`a Service keeps an address that is now in another reservation ${name}`, async () => {
    const { harness, leader } = await withDoubledAddress(options)
    change?.(harness)
    for (let n = 0; n < sweeps; n += 1) await Promise.allSettled([leader.sweep(neverAborted)])
    assert.is(harness.record()?.status?.address, '203.0.113.1')
  })

function dropNext({ api }: Harness): void {
  api.drop(services, { namespace: 'default', name: 'next' })
  api.drop(elasticIPs, { name: 'default.next' })
}

test('a release record is over as soon as its id is in no record', async () => {
  const { harness, leader } = await withAddress()
  harness.cloud.deletesLate = true
  harness.api.drop(services, makeService().metadata)
  assert.is(await leader.release(), 'released')
  assert.ok(harness.api.stored(elasticIPs).some(({ metadata }) => metadata.name === releaseRecordName('res-1')))
  harness.cloud.settle()
  harness.cloud.put(theirs('203.0.113.1'))
  await sweepTwice(leader)
  assert.equal([harness.cloud.released, harness.api.stored(elasticIPs)], [['res-1'], []])
})

test('a provisioned address without marks gets ours before it is deleted, so the next order of its id is safe', async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'res-1' }))
  const status = { phase: 'Available', address: '203.0.113.40', reservationID: 'res-1' } as const
  harness.api.put(elasticIPs, makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Delete' }, status))
  const leader = harness.alone('leader', {
    cloud: {
      after({ verb }) {
        if (verb !== 'release' || harness.cloud.reserved().length > 0) return
        harness.cloud.put(theirs('203.0.113.40'))
        throw new CloudError('cut off', { fault: 'unavailable', outcome: 'unknown' })
      },
    },
  })
  const release = async () => {
    const [source] = harness.api.stored(elasticIPs)
    return source && releaseSource(leader.deps, source, neverAborted)
  }
  const [first] = await Promise.allSettled([release()])
  assert.equal([first.status, harness.cloud.marked], ['rejected', ['res-1']])
  assert.is(await release(), 'released')
  assert.equal([harness.cloud.released, harness.cloud.reserved()], [['res-1'], [theirs('203.0.113.40')]])
})

test('an orphan whose id is given away after the list is not adopted for the Service of its marks', async () => {
  const harness = makeHarness()
  harness.setProject()
  harness.cloud.put(
    makeReservation({ id: 'res-1', address: '203.0.113.1', marks: serviceMarks(scheme, 'default/web') }),
  )
  harness.addService(makeService())
  const leader = harness.alone('leader', {
    cloud: { before: ({ verb }) => void (verb === 'reservation' && harness.cloud.put(theirs('203.0.113.1'))) },
  })
  await sweepTwice(leader)
  assert.equal([harness.record(), harness.cloud.reserved()], [undefined, [theirs('203.0.113.1')]])
})

test("the policy of a record does not apply to another Service's reservation that has its id now", async () => {
  const { harness, leader } = await withAddress()
  const record = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, spec: { ...record.spec, reclaimPolicy: 'Retain' } })
  const next = makeReservation({ id: 'res-1', address: '203.0.113.1', marks: serviceMarks(scheme, 'default/next') })
  harness.addService(makeService({ name: 'next', uid: 'uid-2' }))
  harness.cloud.put(next)
  await sweepTwice(leader)
  assert.is(harness.cloud.reserved()[0]?.marks['retained'], undefined)
})

test('a provisioned address whose id now belongs to another one is written off after two checks', async () => {
  const harness = makeHarness()
  const status = { phase: 'Available', address: '203.0.113.40', reservationID: 'res-1' } as const
  harness.api.put(elasticIPs, makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }, status))
  harness.cloud.put(theirs('203.0.113.99'))
  const leader = harness.alone('leader')
  for (let n = 0; n < 3; n += 1) {
    await leader.reconcileSource('office').catch(() => undefined)
    harness.advance(301_000)
  }
  const office = () => harness.api.stored(elasticIPs)[0]
  assert.equal([office()?.status?.phase, office()?.status?.address], ['Requested', undefined])
  assert.match(office()?.status?.message ?? '', 'reservation res-1 was 203.0.113.40, and is now 203.0.113.99')
  harness.cloud.put(makeReservation({ id: 'res-1', address: '203.0.113.40' }))
  await leader.reconcileSource('office').catch(() => undefined)
  assert.is(office()?.status?.phase, 'Available', 'a false answer does no lasting harm')
})

test('a reservation that waited for its address, and whose id is now foreign, gives no Service its address', async () => {
  const { harness, leader } = await withAddress()
  const record = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, status: { phase: 'Requested', reservationID: 'res-1' } })
  harness.cloud.put(theirs('203.0.113.99'))
  const result = await leader.claim()
  assert.is.not(result.kind === 'held' && result.address, '203.0.113.99')
  assert.is.not(harness.record()?.status?.address, '203.0.113.99')
})

test.run()
