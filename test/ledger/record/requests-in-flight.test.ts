import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { requestedByAnnotation } from '../../../ledger/record/names.ts'
import { requestsInFlight } from '../../../ledger/record/requests-in-flight.ts'
import { makeLot } from '../../builders.ts'

const created = makeLot('default.web', { location: 'da', reclaimPolicy: 'Delete' })
const recordOf = (uid: string): ElasticIP => ({
  ...created,
  metadata: { ...created.metadata, uid, annotations: { [requestedByAnnotation]: 'a' } },
})
const record = recordOf('uid-1')

test('a process that does not lead forgets its earlier creates at the next one, once their requests have ended', async () => {
  let nowMs = 0
  const requests = requestsInFlight({ timeoutMs: 60_000, monotonicMs: () => nowMs, identity: 'a' })
  await requests.createRecord('default.web', () => Promise.resolve(record))
  nowMs = 60_001
  await requests.createRecord('default.web', () => Promise.resolve(recordOf('uid-2')))
  assert.is(requests.isInFlight(record), false)
})

test('until then the request of a record that it created may be in flight', async () => {
  const requests = requestsInFlight({ timeoutMs: 60_000, monotonicMs: () => 0, identity: 'a' })
  assert.is(requests.isInFlight(record), false, 'its create failed')
  await requests.createRecord('default.web', () => Promise.resolve(record))
  assert.is(requests.isInFlight(record), true)
})

test.run()
