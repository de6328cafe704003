import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { recordsOfFreedAddresses } from '../../../ledger/record/address-use.ts'
import { makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.7'
const shows = makeService({ loadBalancerIP: address })
const hides = makeService()
const record = makeRecord({ phase: 'Releasing', address })
const freed = recordsOfFreedAddresses(() => [record, makeRecord({ phase: 'Bound', address: '203.0.113.8' })], [])

const cases: [string, Service | undefined, Service | undefined, boolean][] = [
  ['a Service that shows another address now', hides, shows, true],
  ['a deleted Service', undefined, shows, true],
  ['a Service that still shows it', { ...shows }, shows, false],
  ['a new Service', shows, undefined, false],
]

for (const [name, current, previous, isFreed] of cases) {
  test(`${name} ${isFreed ? 'frees' : 'does not free'} the address`, () => {
    assert.equal(freed(current, previous), isFreed ? [record] : [])
  })
}

test.run()
