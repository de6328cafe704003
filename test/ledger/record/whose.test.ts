// Whose a reservation is: at least one case for each row of the table at whoseIs, and each kind of record.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MarkScheme, Reservation } from '../../../clouds/ports/cloud.ts'
import { type ElasticIP, releaseRecordName } from '../../../ledger/record/elastic-ip.ts'
import {
  adoptionMarks,
  clusterMarks,
  serviceMarks,
  sourceMarks,
  type Verdict,
  foreignReasonOf,
  whoseIs,
} from '../../../ledger/record/marks.ts'
import { warmLabel } from '../../../ledger/record/names.ts'
import { makeLot, makeRecord, makeReservation } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const scheme: MarkScheme = { usage: 'eip-admission', separator: '/', cluster: 'here' }
const packet: MarkScheme = { ...scheme, separator: '/', otherSeparator: '.', adoptsUnmarked: true }
const there = { ...scheme, cluster: 'there' }
const address = '203.0.113.40'
const other = '203.0.113.99'
const held = { address, reservationID: 'res-1', phase: 'Bound' } as const
const own = makeRecord(held)
const six = makeRecord({ ...held, address: '2001:DB8::1' })
const lent = makeRecord(held, { source: { name: 'office', type: 'Provisioned' } })
const claimed = makeRecord(held, { source: { name: 'warm-1', type: 'WarmPool' } })
const named = makeRecord(held, { reservationID: 'res-1' })
const office = makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }, held)
const deleting = { ...held, phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' } as const
const leaving = makeLot(releaseRecordName('res-1'), { reservationID: 'res-1', reclaimPolicy: 'Delete' }, deleting)
const lot = makeLot('warm-1', { location: 'da', reclaimPolicy: 'Delete' }, held)
const warm: ElasticIP = {
  ...lot,
  metadata: { name: 'warm-1', uid: 'warm-uid', labels: { [warmLabel]: 'true' } },
}
const ours = serviceMarks(scheme, 'default/web')
const otherService = serviceMarks(scheme, 'default/next')

const [mine, changed, service] = ['ours', 'changed', 'service lost'] as const
type Case = [
  name: string,
  record: ElasticIP,
  found: Partial<Reservation>,
  verdict: 'ours' | 'changed' | 'service lost' | 'cluster' | 'cluster lost' | 'nobody' | 'nobody lost',
]

const cases: Case[] = [
  ['our marks and our address', own, { marks: ours }, mine],
  ['our marks and another address', own, { marks: ours, address: other }, changed],
  ['our marks, and no address yet', own, { marks: ours, address: undefined }, mine],
  ['our marks, and a record without an address', makeRecord({ phase: 'Requested' }), { marks: ours }, mine],
  ['our marks, and the address written otherwise', six, { marks: ours, address: '2001:db8:0::1' }, mine],
  ['our cluster, and the mark of the Service removed', own, { marks: clusterMarks(scheme) }, mine],
  ['our cluster, and another kind of mark', own, { marks: { ...ours, usage: 'backup' } }, 'nobody'],
  ['the network of our address', own, { marks: ours, address: '203.0.113.32', prefixLength: 28 }, mine],
  ['another network', own, { marks: ours, address: '203.0.113.64', prefixLength: 28 }, changed],
  ['another Service of this cluster', own, { marks: otherService }, service],
  ['another Service, and another address', own, { marks: otherService, address: other }, service],
  ['the warm record that our address came from', own, { marks: sourceMarks(scheme, 'warm-uid') }, mine],
  ['another cluster', own, { marks: serviceMarks(there, 'default/next') }, 'cluster lost'],
  [
    'another cluster, and this Service: the cluster has a new id',
    own,
    { marks: serviceMarks(there, 'default/web') },
    'cluster',
  ],
  ['nothing, with our address', own, { marks: {} }, 'nobody'],
  ['nothing, with another address', own, { marks: {}, address: other }, 'nobody lost'],
  ['nothing, and the record was adopted so', named, { marks: {} }, mine],
  [
    'nothing and another address, although the record was adopted so',
    named,
    { marks: {}, address: other },
    'nobody lost',
  ],
  ['another id than the adopted one', makeRecord(held, { reservationID: 'res-0' }), { marks: {} }, 'nobody'],
  ['another Service, although the record was adopted', named, { marks: otherService }, service],
  ['nothing, of a provisioned address', office, { marks: {} }, mine],
  ['a previous Service, of a provisioned address', office, { marks: otherService }, mine],
  ['another cluster, of a provisioned address', office, { marks: clusterMarks(there) }, 'cluster'],
  ['nothing and another address, of a provisioned one', office, { marks: {}, address: other }, 'nobody lost'],
  ['nothing, of an address that an ElasticIP lends', lent, { marks: {} }, mine],
  ['a previous Service, of an address that an ElasticIP lends', lent, { marks: otherService }, mine],
  ['nothing, and a deletion was sent', { ...office, status: deleting }, { marks: {} }, 'nobody'],
  ['the warm record', warm, { marks: sourceMarks(scheme, 'warm-uid') }, mine],
  ['another warm record', warm, { marks: sourceMarks(scheme, 'other-uid') }, service],
  ['a Service that has a warm address', warm, { marks: ours }, service],
  ['the warm record in another cluster', warm, { marks: sourceMarks(there, 'warm-uid') }, 'cluster'],
  ['another cluster, of a warm record', warm, { marks: sourceMarks(there, 'other-uid') }, 'cluster lost'],
  ['nothing, of a warm record', warm, { marks: {} }, 'nobody'],
  ['the warm record that the address came from', claimed, { marks: sourceMarks(scheme, 'warm-uid') }, mine],
  ['our cluster, of a release record', leaving, { marks: ours }, mine],
  ['nothing, of a release record', leaving, { marks: {} }, 'nobody'],
  ['another cluster, of a release record', leaving, { marks: clusterMarks(there) }, 'cluster'],
]

for (const [name, record, found, verdict] of cases)
  test(`a reservation whose marks name ${name}: ${verdict}`, () => {
    const reservation = makeReservation({ address, ...found })
    const rules = { scheme, sweepsUntagged: false }
    const got = whoseIs(rules, record, reservation)
    assert.equal(got, verdictOf(verdict))
    const text = foreignReasonOf(rules, record, reservation)
    assert.is(text === undefined, got.whose === 'ours')
    // A person has to see which address it is now.
    if (text !== undefined && reservation.address === other) assert.match(text, other)
  })

function verdictOf(text: string): Verdict {
  const [whose = '', lost] = text.split(' ')
  return { whose: whose as Verdict['whose'], isLost: lost !== undefined }
}

test("a predecessor's reservation that names no cluster is ours only by the operator's statement", () => {
  const marks = { usage: packet.usage, service: ours['service'] ?? '' }
  const found = makeReservation({ address, marks })
  const of = (sweepsUntagged: boolean, record = own) => whoseIs({ scheme: packet, sweepsUntagged }, record, found).whose
  assert.is(of(false), 'nobody')
  assert.is(of(true), 'ours')
  const next = makeRecord(held, { claimRef: { namespace: 'default', name: 'next' } })
  assert.is(of(true, { ...next, metadata: { ...next.metadata, name: 'default.next' } }), 'nobody')
  const adopted = makeReservation({ address, marks: { ...marks, ...adoptionMarks(packet) } })
  assert.is(whoseIs({ scheme: packet, sweepsUntagged: false }, own, adopted).whose, 'ours')
})

testRows(
  { file: 'ledger/record/marks.ts', cell: -2 },
  cases.map(([name, , , verdict]) => [name, verdict.split(' ')[0] ?? '']),
  [
    'another cluster',
    'another cluster, and this Service: the cluster has a new id',
    'another Service of this cluster',
    'our marks and our address',
    'our marks and another address',
    'nothing, and the record was adopted so',
    'nothing, with our address',
    'nothing, with another address',
  ],
)

test.run()
