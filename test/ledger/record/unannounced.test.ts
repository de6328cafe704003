import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { unannounced } from '../../../ledger/record/address-use.ts'
import { makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.7'
const bound = makeRecord({ phase: 'Bound', address })
const showing = (ip: string) => makeService({ status: { loadBalancer: { ingress: [{ ip }] } } })
const deletionTimestamp = '2026-01-31T09:00:00Z'

const cases: [name: string, record: typeof bound, service: Service | undefined, isSilent: boolean][] = [
  ['a Service that shows its address', bound, showing(address), false],
  ['a Service that shows none', bound, makeService(), true],
  ['a Service that shows another one', bound, showing('203.0.113.8'), true],
  ['a Service that is deleted', bound, makeService({ deletionTimestamp }), false],
  ['a record without a Service', bound, undefined, false],
  ['a record that waits for its address', makeRecord({ phase: 'Requested' }), makeService(), false],
  ['a record that is released', makeRecord({ phase: 'Releasing', address }), makeService(), false],
]
for (const [name, record, service, isSilent] of cases)
  test(`${name}: ${isSilent ? 'not announced' : 'no matter'}`, () => {
    assert.equal(
      unannounced([record], () => service),
      isSilent ? [record] : [],
    )
  })

test.run()
