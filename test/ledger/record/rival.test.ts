// A person can write the address of one record into another one. The Services say which record has it rightly.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { decidingRecord, rivalOf } from '../../../ledger/record/address-use.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.7'
const held = { phase: 'Bound', address, reservationID: 'res-1' } as const
const record = makeRecord(held)
const recordOf = (name: string, status: ElasticIP['status']): ElasticIP => {
  const made = makeRecord(status, { claimRef: { namespace: 'default', name } })
  return { ...made, metadata: { ...made.metadata, name: `default.${name}` } }
}
const other = recordOf('next', { ...held, reservationID: 'res-2' })
const showing = (ip: string) => makeService({ status: { loadBalancer: { ingress: [{ ip }] } } })

type Case = [name: string, record: ElasticIP, others: ElasticIP[], shownBy: Record<string, Service>, isRival: boolean]
const cases: Case[] = [
  ['a record whose address another Service shows', record, [other], { next: showing(address) }, true],
  [
    'the same, and its own Service shows another one',
    record,
    [other],
    { web: showing('203.0.113.8'), next: showing(address) },
    true,
  ],
  ['a record whose own Service shows it', record, [other], { web: showing(address), next: showing(address) }, false],
  ['a record whose address no Service shows', record, [other], { next: makeService() }, false],
  ['another record of the same reservation', record, [recordOf('next', held)], { next: showing(address) }, false],
  ['a record alone', record, [], {}, false],
  [
    'another record with another address',
    record,
    [recordOf('next', { ...held, address: '203.0.113.8' })],
    { next: showing(address) },
    false,
  ],
  [
    'another record that is released',
    record,
    [recordOf('next', { ...held, phase: 'Releasing' })],
    { next: showing(address) },
    false,
  ],
  ['a record without an address', makeRecord({ phase: 'Requested' }), [other], { next: showing(address) }, false],
  [
    'a record and the available address that it claimed',
    record,
    [makeLot('office', { reclaimPolicy: 'Retain' }, { ...held, phase: 'Available' })],
    {},
    false,
  ],
]
for (const [name, of, others, shownBy, isRival] of cases)
  test(`${name}: ${isRival ? 'a rival' : 'none'}`, () => {
    const service = (key: string) => shownBy[key.replace('default/', '')]
    assert.is(rivalOf(of, [of, ...others], service), isRival ? others[0] : undefined)
  })

const deleted = recordOf('gone', { ...held, phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' })
const elsewhere = recordOf('else', { ...held, address: '203.0.113.8' })
const deciding: [name: string, records: ElasticIP[], shownBy: string[], expected: ElasticIP | undefined][] = [
  ['no record has it', [elsewhere], ['else'], undefined],
  ['a live record hides one whose reservation is being deleted', [deleted, record], [], record],
  ['the same where the old Service shows it still', [deleted, record], ['gone'], record],
  ['one whose reservation is being deleted decides alone', [deleted, elsewhere], ['else'], deleted],
  ['of two live records the one whose Service shows it', [record, other], ['next'], other],
  ['of two that no Service shows, any', [record, other], [], record],
]
for (const [name, records, shownBy, expected] of deciding)
  test(`which record decides about an address: ${name}`, () => {
    const service = (key: string) => (shownBy.includes(key.replace('default/', '')) ? showing(address) : undefined)
    assert.is(decidingRecord(address, records, service), expected)
  })

test.run()
