import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { isRelevantChange } from '../../../ledger/record/relevant-change.ts'
import { makeRecord } from '../../builders.ts'

const asked = { sender: 'a', sentAt: '2026-01-31T09:00:00Z' }
const requested = makeRecord({ phase: 'Requested', requestInFlight: asked })
const reserved = makeRecord({ phase: 'Reserved', address: '203.0.113.1', reservationID: 'res-1' })
const bound = makeRecord(
  { ...reserved.status, phase: 'Bound' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'u' } },
)
const deleted = { ...reserved, metadata: { ...reserved.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' } }

const cases: { name: string; now?: ElasticIP; before?: ElasticIP; news: boolean }[] = [
  { name: 'a record is written to ask with', now: makeRecord(), news: false },
  { name: 'it is asked', before: makeRecord(), now: requested, news: false },
  { name: 'the cloud refuses', before: requested, now: makeRecord({ phase: 'Requested', message: 'no' }), news: false },
  { name: 'and the record goes with the question', before: requested, news: false },
  { name: 'the address is there', before: requested, now: reserved, news: true },
  { name: 'its Service is seen', before: reserved, now: bound, news: true },
  { name: 'somebody deletes it', before: reserved, now: deleted, news: true },
  { name: 'the location is written', before: makeRecord(), now: makeRecord(undefined, { location: 'sv' }), news: true },
  {
    name: 'the cloud may grant it yet',
    before: requested,
    now: makeRecord({ phase: 'Requested', reservationID: 'res-1' }),
    news: true,
  },
  { name: 'one that had an address is gone', before: reserved, news: true },
  { name: 'one with an address is found at the start', now: bound, news: true },
]

for (const { name, now, before, news } of cases) {
  test(`${name}: ${news ? 'somebody has to look' : 'its author knows'}`, () =>
    assert.is(isRelevantChange(now, before), news))
}

test.run()
