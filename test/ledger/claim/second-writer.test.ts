// Another process writes a record between our read and our write.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { sourceMarks } from '../../../ledger/record/marks.ts'
import { postpone, storeReservation } from '../../../ledger/claim/store-result.ts'
import { makeLot, makeRecord, makeReservation } from '../../builders.ts'
import { makeHarness, scheme } from '../harness.ts'

test('a late "requested" does not take the address from a record that another process has seen granted', async () => {
  const harness = makeHarness()
  const { deps } = harness.process('a')
  const before = harness.api.put(elasticIPs, makeRecord({ phase: 'Requested', reservationID: 'res-1' }))
  const granted = { phase: 'Reserved', reservationID: 'res-1', address: '203.0.113.40' } as const
  await deps.records.writeStatus(before, granted)
  const late = makeReservation({ state: 'requested', address: undefined })
  const result = await storeReservation(deps, before, late)
  assert.is(result.kind, 'pending')
  const { phase, address } = harness.record()?.status ?? {}
  assert.equal([phase, address], ['Reserved', '203.0.113.40'])
})

for (const phase of ['Bound', 'Released'] as const)
  test(`a late "granted" leaves a record ${phase} whose address another process has stored since`, async () => {
    const harness = makeHarness()
    const { deps } = harness.process('a')
    const before = harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
    await deps.records.writeStatus(before, { phase, reservationID: 'res-1', address: '203.0.113.40' })
    await storeReservation(deps, before, makeReservation({ address: '203.0.113.40' }))
    assert.is(harness.record()?.status?.phase, phase)
  })

test('a late failure of a request takes no reservation from a record that another process releases', async () => {
  const harness = makeHarness()
  const { deps } = harness.process('a')
  const before = harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
  const deletionRequestedAt = '2026-01-31T09:00:00Z'
  await deps.records.writeStatus(before, { phase: 'Releasing', reservationID: 'res-1', deletionRequestedAt })
  await postpone(deps, before, new CloudError('HTTP status 503', { fault: 'unavailable', outcome: 'nothing' }))
  const { reservationID } = harness.record()?.status ?? {}
  assert.is(reservationID, 'res-1')
})

test('a claim whose warm address is changed or removed by another process continues with the next one', async () => {
  for (const change of ['changed', 'removed'] as const) {
    const harness = makeHarness()
    harness.setProject()
    harness.setAdoptionMark()
    const warm = (n: number): ElasticIP => {
      const status = { phase: 'Available', address: `203.0.113.${n}`, reservationID: `warm-${n}` } as const
      const lot = makeLot(`warm-${n}`, { location: 'da', reclaimPolicy: 'Delete' }, status)
      harness.cloud.put(
        makeReservation({ id: `warm-${n}`, address: status.address, marks: sourceMarks(scheme, `uid-${n}`) }),
      )
      return { ...lot, metadata: { ...lot.metadata, uid: `uid-${n}`, labels: { [warmLabel]: 'true' } } }
    }
    for (const n of [51, 52]) harness.api.put(elasticIPs, warm(n))
    let isOver = false
    const process = harness.process('a', {
      kube: {
        before({ verb, values: [, object] }) {
          const { metadata } = object as ElasticIP
          if (verb !== 'replace' || isOver || !metadata.name.startsWith('warm-')) return
          isOver = true
          const stored = harness.api.stored(elasticIPs).find((one) => one.metadata.name === metadata.name)
          if (!stored) throw new Error('there is no warm record')
          harness.api.drop(elasticIPs, stored.metadata)
          if (change === 'changed')
            harness.api.put(elasticIPs, { ...stored, metadata: { ...stored.metadata, annotations: { by: 'b' } } })
        },
      },
    })
    const result = await process.claim()
    assert.is(result.kind, 'held', change)
    assert.equal([isOver, harness.cloud.bought.length], [true, 0], change)
  }
})

test.run()
