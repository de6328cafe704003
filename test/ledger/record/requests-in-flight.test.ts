import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { requestedByAnnotation } from '../../../ledger/record/names.ts'
import { requestsInFlight } from '../../../ledger/record/requests-in-flight.ts'
import { makeLot } from '../../builders.ts'

const created = makeLot('default.web', { location: 'da', reclaimPolicy: 'Delete' })
const record: ElasticIP = {
  ...created,
  metadata: { ...created.metadata, uid: 'uid-1', annotations: { [requestedByAnnotation]: 'a' } },
}

test('a process that does not lead forgets its earlier creates once their requests have ended', async () => {
  let nowMs = 0
  const requests = requestsInFlight({ timeoutMs: 60_000, monotonicMs: () => nowMs, identity: 'a' })
  await requests.createRecord('default.web', () => Promise.resolve(record))
  nowMs = 60_001
  assert.is(requests.isInFlight(record), false)
})

test('until then the request of a record that it created may be in flight', async () => {
  const requests = requestsInFlight({ timeoutMs: 60_000, monotonicMs: () => 0, identity: 'a' })
  assert.is(requests.isInFlight(record), false, 'its create failed')
  await requests.createRecord('default.web', () => Promise.resolve(record))
  assert.is(requests.isInFlight(record), true)
})

test('a request that has ended does not count again, however long its record is looked at', () => {
  let nowMs = 0
  const requests = requestsInFlight({ timeoutMs: 60_000, monotonicMs: () => nowMs, identity: 'b' })
  const looks = [0, 59_999, 60_000, 3_599_999, 3_600_000, 7_000_000].map((ms) => {
    nowMs = ms
    return requests.isInFlight(record)
  })
  assert.equal(looks, [true, true, false, false, false, false])
})

test.run()
