import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { isRelevantChange } from '../../../ledger/record/status.ts'
import { makeRecord } from '../../builders.ts'

const inFlight = { sender: 'a', sentAt: '2026-01-31T09:00:00Z' }
const requested = makeRecord({ phase: 'Requested', requestInFlight: inFlight })
const reserved = makeRecord({ phase: 'Reserved', address: '203.0.113.1', reservationID: 'res-1' })
const bound = makeRecord(
  { ...reserved.status, phase: 'Bound' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'u' } },
)
const deleted = { ...reserved, metadata: { ...reserved.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } }

const cases: { name: string; now?: ElasticIP; before?: ElasticIP; isRelevant: boolean }[] = [
  { name: 'a record is created for a request', now: makeRecord(), isRelevant: false },
  { name: 'a request is sent', before: makeRecord(), now: requested, isRelevant: false },
  {
    name: 'the provider refuses the request',
    before: requested,
    now: makeRecord({ phase: 'Requested', message: 'no' }),
    isRelevant: false,
  },
  { name: 'the record of a refused request is removed', before: requested, isRelevant: false },
  { name: 'the address is reserved', before: requested, now: reserved, isRelevant: true },
  { name: 'its Service is bound', before: reserved, now: bound, isRelevant: true },
  { name: 'a user deletes the record', before: reserved, now: deleted, isRelevant: true },
  {
    name: 'the location changes',
    before: makeRecord(),
    now: makeRecord(undefined, { location: 'sv' }),
    isRelevant: true,
  },
  {
    name: 'the provider has a reservation that is not granted yet',
    before: requested,
    now: makeRecord({ phase: 'Requested', reservationID: 'res-1' }),
    isRelevant: true,
  },
  { name: 'a record with an address no longer exists', before: reserved, isRelevant: true },
  { name: 'a record with an address is listed at the start', now: bound, isRelevant: true },
]

for (const { name, now, before, isRelevant } of cases) {
  test(`${name}: ${isRelevant ? 'the controller must look' : 'no look is needed'}`, () =>
    assert.is(isRelevantChange(now, before), isRelevant))
}

test.run()
