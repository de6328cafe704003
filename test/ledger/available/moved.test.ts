// A kept address that an operator moves to another Service: a provisioned ElasticIP for its reservation, then no record.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { retain } from '../../../ledger/release/release.ts'
import { makeLot, makeReservation } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { makeHarness, neverAborted, terminating } from '../harness.ts'

const provisioned = (reservationID: string) =>
  makeLot('provisioned', { reservationID, reclaimPolicy: 'Retain', claimRef: { namespace: 'shop', name: 'till' } })

async function kept() {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim()
  await retain(process.deps, harness.record() as ElasticIP, neverAborted)
  const { reservationID = '', address = '' } = harness.record()?.status ?? {}
  return { harness, process, reservationID, address }
}

test('a reservation that an ElasticIP waits for outlives the record that is released', async () => {
  const { harness, process, reservationID, address } = await kept()
  harness.api.put(elasticIPs, provisioned(reservationID))
  assert.is(await process.release(), 'released')
  assert.is(harness.record(), undefined)
  assert.is(harness.cloud.calls.release, 0)
  await process.reconcileSource('provisioned')
  const { status } = harness.api.stored(elasticIPs).find(({ metadata }) => metadata.name === 'provisioned') ?? {}
  assert.equal([status?.phase, status?.address], ['Available', address])
})

test('an ElasticIP that is itself being deleted is no reason to keep it', async () => {
  const { harness, process, reservationID } = await kept()
  const going = provisioned(reservationID)
  harness.api.put(elasticIPs, { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } })
  assert.is(await process.release(), 'released')
  assert.is(harness.cloud.calls.release, 1)
})

test('a new Service of the previous name does not find the address by the marks that it keeps', async () => {
  const { harness, process, reservationID, address } = await kept()
  harness.api.put(elasticIPs, provisioned(reservationID))
  await process.release()
  await process.reconcileSource('provisioned')
  // A Service that shows an address is looked for at the cloud, whatever the adoption mark says.
  const claimed = await process.claim({ isShown: true })
  assert.is(claimed.kind, 'held')
  assert.is.not(claimed.kind === 'held' && claimed.address, address)
})

for (const isTerminating of [true, false])
  test(`one that was moved ${isTerminating ? 'stays where all records are' : 'goes where its ElasticIP alone is'} deleted`, async () => {
    const { harness, process, reservationID } = await kept()
    harness.api.put(elasticIPs, provisioned(reservationID))
    await process.release()
    await process.reconcileSource('provisioned')
    harness.api.put(elasticIPs, deleted(harness.api.stored(elasticIPs)))
    const before = ({ verb }: HeardCall) => {
      if (verb === 'create' && isTerminating) throw terminating
    }
    await harness.alone('b', { kube: { before } }).reconcileSource('provisioned')
    assert.equal([harness.api.stored(elasticIPs), harness.cloud.calls.release], [[], isTerminating ? 0 : 1])
  })

test("an operator's own reservation gets no mark of ours when all records are deleted", async () => {
  const { harness, process } = await kept()
  harness.cloud.put(makeReservation({ id: 'own-1', address: '198.51.100.7', marks: { team: 'edge' } }))
  harness.api.put(elasticIPs, makeLot('provisioned', { reservationID: 'own-1', reclaimPolicy: 'Retain' }))
  await process.release()
  await process.reconcileSource('provisioned')
  harness.api.put(elasticIPs, deleted(harness.api.stored(elasticIPs)))
  const before = ({ verb }: HeardCall) => {
    if (verb === 'create') throw terminating
  }
  await harness.alone('b', { kube: { before } }).reconcileSource('provisioned')
  assert.equal(harness.api.stored(elasticIPs), [])
  assert.equal(
    harness.cloud.reserved().map(({ id, marks }) => [id, marks]),
    [['own-1', { team: 'edge' }]],
  )
})

function deleted([record]: ElasticIP[]): ElasticIP {
  if (!record) throw new Error('no record')
  return { ...record, metadata: { ...record.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } }
}

test.run()
