import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { contradictions, outdatedWarm } from '../../../ledger/sweep/compare-reservations.ts'
import { type IpAddress, isInRanges } from '../../../lib/ip-address.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord, makeReservation } from '../../builders.ts'

const record = makeRecord({ phase: 'Bound', reservationID: 'res-1', address: '203.0.113.1' })
const other = { ...record, metadata: { ...record.metadata, name: 'default.other' } }
const source = makeLot(
  'office',
  { reclaimPolicy: 'Retain' },
  { phase: 'Bound', reservationID: 'res-1', address: '203.0.113.1' },
)
const borrower = { ...record, spec: { ...record.spec, source: { name: 'office', type: 'Provisioned' as const } } }
const one = makeReservation({ id: 'res-1', address: '203.0.113.1' })

const special = (address: string) =>
  [[makeReservation({ ...one, address })], [makeRecord({ ...record.status, phase: 'Bound', address })]] satisfies [
    Reservation[],
    ElasticIP[],
  ]

const cases: [name: string, list: Reservation[], records: (typeof record)[], says: string[]][] = [
  ['a list that agrees', [one], [record], []],
  ['a list without the reservation', [], [record], []],
  ['a reservation that is not granted yet', [makeReservation({ ...one, address: undefined })], [record], []],
  [
    'a network that contains the address',
    [makeReservation({ ...one, address: '203.0.113.0', prefixLength: 29 })],
    [record],
    [],
  ],
  [
    'a record that is being released',
    [makeReservation({ ...one, address: '203.0.113.9' })],
    [makeRecord({ ...record.status, phase: 'Releasing' })],
    [],
  ],
  ['an address that came from a provisioned one', [one], [source, borrower], []],
  [
    'another address',
    [makeReservation({ ...one, address: '203.0.113.9' })],
    [record],
    ['default.web: the provider lists 203.0.113.9 for reservation res-1, and the record has 203.0.113.1'],
  ],
  [
    'an address in two reservations',
    [one, makeReservation({ ...one, id: 'res-2' })],
    [record],
    ['default.web: the provider lists 203.0.113.1 in reservation res-2 as well as in res-1'],
  ],
  [
    'a reservation in two records',
    [one],
    [record, other],
    [
      'default.web: ElasticIP default.other has reservation res-1 as well',
      'default.other: ElasticIP default.web has reservation res-1 as well',
    ],
  ],
  [
    'an address that no Service can have',
    ...special('127.0.0.1'),
    ['default.web: reservation res-1 is 127.0.0.1, which is a loopback address'],
  ],
  [
    'an address of this cluster',
    ...special('10.96.0.1'),
    ['default.web: reservation res-1 is 10.96.0.1, which is in a Service range of this cluster'],
  ],
]
const facts = {
  clusterNetwork: (address: IpAddress) => (isInRanges(address, ['10.96.0.0/12']) ? 'in a Service range' : undefined),
}
for (const [name, list, records, says] of cases)
  test(`${name}: ${says.length} contradictions`, () => {
    const found = contradictions(list, records, facts)
    assert.equal(
      found.map((item) => `${item.record.metadata.name}: ${item.message}`),
      says,
    )
  })

test('only a free warm address is read again when the provider lists another one', () => {
  const moved = [makeReservation({ ...one, address: '203.0.113.9' })]
  const lot = makeLot(
    'warm-da-1',
    { location: 'da', reclaimPolicy: 'Delete' },
    { ...record.status, phase: 'Available' },
  )
  const free = { ...lot, metadata: { ...lot.metadata, labels: { [warmLabel]: 'true' } } }
  const claimed = { ...free, spec: { ...free.spec, claimRef: { namespace: 'default', name: 'web' } } }
  const all = [free, claimed, record, source]
  assert.equal(outdatedWarm(moved, all), [free])
  assert.equal(outdatedWarm([one], all), [])
  assert.equal(outdatedWarm([], all), [])
})

test.run()
