import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { readPossibleUsers, readRecordsSince } from '../../../ledger/users/possible-users.ts'
import { makePolicy, makeRecord } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'

const written = makeRecord({ phase: 'Releasing', address: '203.0.113.40', reservationID: 'res-1' })
const { signal } = new AbortController()

/** A process whose cache has one record, and the API server another one. */
function reader(cache: { hasReached: boolean }) {
  const api = apiServer()
  api.put(elasticIPs, { ...written, metadata: { ...written.metadata, name: 'stored' } })
  const cached: ElasticIP = { ...written, metadata: { ...written.metadata, name: 'cached' } }
  const recordsSince = readRecordsSince(api.client, {
    list: () => [cached],
    hasReached: () => Promise.resolve(cache.hasReached),
  })
  return readPossibleUsers(api.client, { policy: makePolicy({ metro: 'da' }), recordsSince })
}

for (const { name, hasReached, after, seen } of [
  { name: 'the cache shows the record that was just written', hasReached: true, after: written, seen: 'cached' },
  { name: 'the cache does not show it in time', hasReached: false, after: written, seen: 'stored' },
  { name: 'nothing was written', hasReached: true, after: undefined, seen: 'stored' },
])
  test(`who may use an address is read from the ${seen} records where ${name}`, async () => {
    const { records } = await reader({ hasReached })(signal, after)
    assert.equal(
      records.map(({ metadata }) => metadata.name),
      [seen],
    )
  })

test.run()
