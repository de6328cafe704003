import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatProviderId, readProviderId } from '../../../controllers/nodes/provider-id.ts'
import { ids } from './builders.ts'

const cases = [
  { said: 'equinixmetal://m-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'packet://m-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'm-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'M-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'packet://M-1', read: { kind: 'machine', id: 'm-1' } },
  { said: undefined, read: { kind: 'absent' } },
  { said: '', read: { kind: 'absent' } },
  { said: 'aws:///eu-west-1a/i-01', read: { kind: 'foreign' } },
  { said: 'aws://m-1', read: { kind: 'foreign' } },
  { said: 'kind://docker/kind/worker', read: { kind: 'foreign' } },
  { said: 'EquinixMetal://m-1', read: { kind: 'foreign' } },
  { said: 'i-01', read: { kind: 'foreign' } },
  { said: '/m-1', read: { kind: 'foreign' } },
  { said: 'equinixmetal://', read: { kind: 'invalid' } },
  { said: 'equinixmetal://../ips', read: { kind: 'invalid' } },
  { said: 'equinixmetal:///m-1', read: { kind: 'invalid' } },
  { said: 'packet://m-1\n', read: { kind: 'invalid' } },
]
for (const { said, read } of cases)
  test(`the providerID ${JSON.stringify(said)} is ${JSON.stringify(read)}`, () =>
    assert.equal(readProviderId(said, ids), read))

const inZone = { ...ids, scheme: 'cloud', path: 'metal/a-1/' }
const casesInZone = [
  { said: 'cloud://metal/a-1/m-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'm-1', read: { kind: 'machine', id: 'm-1' } },
  { said: 'cloud://metal/a-2/m-1', read: { kind: 'foreign' } },
  { said: 'cloud://virtual/a-1/m-1', read: { kind: 'foreign' } },
  { said: 'cloud://m-1', read: { kind: 'foreign' } },
  { said: 'cloud://metal/a-1/x', read: { kind: 'invalid' } },
]
for (const { said, read } of casesInZone)
  test(`where ids have a path, the providerID ${JSON.stringify(said)} is ${JSON.stringify(read)}`, () =>
    assert.equal(readProviderId(said, inZone), read))

const beside = { ...ids, neighbours: /^equinixmetal:\/\/bm-/ }
test('a machine that another program of the vendor serves is foreign, and not invalid', () => {
  assert.equal(readProviderId('equinixmetal://bm-4321', beside), { kind: 'foreign' })
  assert.equal(readProviderId('equinixmetal://m-1', beside), { kind: 'machine', id: 'm-1' })
})

for (const one of [ids, inZone])
  test(`what is written is read again${one === inZone ? ' where ids have a path' : ''}`, () =>
    assert.equal(readProviderId(formatProviderId('m-7', one), one), { kind: 'machine', id: 'm-7' }))

test.run()
