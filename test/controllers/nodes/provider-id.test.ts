import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatProviderId, readProviderId } from '../../../controllers/nodes/provider-id.ts'
import { ids } from './builders.ts'

const cases = [
  { said: 'equinixmetal://m-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'packet://m-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'm-1', read: { kind: 'machine', id: 'm-1' } },
  { said: undefined, read: { kind: 'nothing' } },
  { said: '', read: { kind: 'nothing' } },
  { said: 'aws:///eu-west-1a/i-01', read: { kind: 'foreign' } },
  { said: 'aws://m-1', read: { kind: 'foreign' } },
  { said: 'kind://docker/kind/worker', read: { kind: 'foreign' } },
  { said: 'EquinixMetal://m-1', read: { kind: 'foreign' } },
  { said: 'i-01', read: { kind: 'foreign' } },
  { said: '/m-1', read: { kind: 'foreign' } },
  { said: 'equinixmetal://', read: { kind: 'unreadable' } },
  { said: 'equinixmetal://../ips', read: { kind: 'unreadable' } },
  { said: 'equinixmetal:///m-1', read: { kind: 'unreadable' } },
  { said: 'packet://m-1\n', read: { kind: 'unreadable' } },
]
for (const { said, read } of cases)
  test(`the providerID ${JSON.stringify(said)} is ${JSON.stringify(read)}`, () =>
    assert.equal(readProviderId(said, ids), read))

test('what is written is read again', () => {
  assert.equal(readProviderId(formatProviderId('m-7', ids), ids), { kind: 'machine', id: 'm-7' })
})

test.run()
