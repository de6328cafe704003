import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { isUnobserved, summaryOf, condition } from '../../../ledger/record/status.ts'
import { notRequested } from '../../../ledger/record/requests-in-flight.ts'
import { makeRecord } from '../../builders.ts'

const now = new Date(0)
const refused = (fault: Parameters<typeof notRequested>[0]) => [notRequested(fault, { message: 'no', now })]
const reserved = (reason: string) => [condition('Reserved', { status: 'False', reason, message: 'no', now })]

const cases: [status: ElasticIPStatus, ready: string, reason: string, isStalled?: true][] = [
  [{}, 'False', 'Requested'],
  [{ phase: 'Reserved' }, 'False', 'Reserved'],
  [{ phase: 'Bound' }, 'True', 'Bound'],
  [{ phase: 'Available' }, 'True', 'Available'],
  [{ phase: 'Released' }, 'True', 'Released'],
  [{ phase: 'Releasing' }, 'False', 'Releasing'],
  [{ phase: 'Requested', conditions: refused('quota') }, 'False', 'QuotaUsedUp', true],
  [{ phase: 'Requested', conditions: refused('auth') }, 'False', 'AuthFailed', true],
  [{ phase: 'Requested', conditions: refused('invalid') }, 'False', 'Invalid', true],
  [{ phase: 'Requested', conditions: refused('refused') }, 'False', 'Refused', true],
  [{ phase: 'Requested', conditions: refused('unavailable') }, 'False', 'Unavailable'],
  [{ phase: 'Requested', conditions: refused('rate-limit') }, 'False', 'RateLimited'],
  [{ phase: 'Requested', conditions: reserved('NotProvisioned') }, 'False', 'NotProvisioned', true],
  [{ phase: 'Requested', conditions: reserved('Lost') }, 'False', 'Lost', true],
  [{ phase: 'Requested', conditions: reserved('NotGranted') }, 'False', 'NotGranted'],
  // An earlier refusal says nothing about an address that is there.
  [{ phase: 'Bound', conditions: refused('quota') }, 'True', 'Bound'],
]

for (const [status, ready, reason, isStalled = false] of cases)
  test(`${JSON.stringify(status.conditions?.[0]?.reason ?? status.phase)} is Ready ${ready}, ${reason}`, () => {
    const [first, ...others] = summaryOf(status)
    assert.equal([first?.type, first?.status, first?.reason], ['Ready', ready, reason])
    assert.equal(
      others.map(({ type, reason: why }) => [type, why]),
      isStalled ? [['Stalled', reason]] : [],
    )
  })

test('the status has the same message as the conditions', () => {
  const both = summaryOf({ phase: 'Requested', message: 'no quota', conditions: refused('quota') })
  assert.equal(
    both.map(({ message }) => message),
    ['no quota', 'no quota'],
  )
})

test('only a record at rest is observed again for a newer spec', () => {
  const of = (status: ElasticIPStatus, generation = 2) => {
    const record = makeRecord(status)
    return isUnobserved({ ...record, metadata: { ...record.metadata, generation } })
  }
  assert.is(of({ phase: 'Bound', observedGeneration: 1 }), true)
  assert.is(of({ phase: 'Bound' }), true)
  assert.is(of({ phase: 'Bound', observedGeneration: 2 }), false)
  for (const phase of ['Requested', 'Releasing'] as const) assert.is(of({ phase, observedGeneration: 1 }), false)
})

test.run()
