// The fate of a reservation whose record is released: one case for each row of the table at planDeletion.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MarkScheme, Reservation } from '../../../clouds/ports/cloud.ts'
import type { Service } from '../../../kube/objects.ts'
import { type ElasticIP, releaseRecordName } from '../../../ledger/record/elastic-ip.ts'
import { adoptionMarks, clusterMarks, serviceMarks } from '../../../ledger/record/marks.ts'
import { type DeletionPlan, planDeletion } from '../../../ledger/release/delete-reservation.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const scheme: MarkScheme = { usage: 'eip-admission', separator: '/', cluster: 'here', adoptsUnmarked: true }
const address = '203.0.113.40'
const held = { address, reservationID: 'res-1' }
const own = makeRecord({ ...held, phase: 'Releasing' })
const requested = makeRecord({ ...held, phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' })
const ours = makeReservation({ marks: clusterMarks(scheme) })
const theirs = makeReservation({ marks: { ...clusterMarks(scheme), cluster: 'there' } })
const lot = (facts: Pick<ElasticIP['spec'], 'reclaimPolicy'>, annotations: Record<string, string> = {}): ElasticIP => {
  const source = makeLot('office', { reservationID: 'res-1', ...facts })
  return { ...source, metadata: { ...source.metadata, annotations }, status: { ...held, phase: 'Releasing' } }
}
const named = (name: string, record: ElasticIP): ElasticIP => ({ ...record, metadata: { ...record.metadata, name } })
const showing = makeService({ name: 'ghost', status: { loadBalancer: { ingress: [{ ip: address }] } } })
const ghost = { namespace: 'default', name: 'ghost' }
const leaving = { deletionTimestamp: '2026-01-31T09:00:00Z' }

type Case = {
  name: string
  record?: ElasticIP
  found?: Reservation | undefined
  others?: ElasticIP[]
  services?: Service[]
  heir?: Service
  sweepsUntagged?: true
  plan: DeletionPlan['do'] | { keep: string; endsAdoption?: boolean }
}

const cases: Case[] = [
  { name: 'with our marks, which nobody uses', plan: 'delete' },
  {
    name: 'that no longer exists, after a deletion that lost its answer',
    record: requested,
    found: undefined,
    plan: 'delete',
  },
  {
    name: 'that no longer exists so, while a Service shows its address from another one',
    record: requested,
    found: undefined,
    services: [showing],
    plan: 'delete',
  },
  { name: 'that no longer exists, although nobody requested that', found: undefined, plan: 'delete' },
  { name: 'of another cluster, by its marks', found: theirs, plan: { keep: 'its marks name another cluster, there' } },
  {
    name: 'that an operator provisioned',
    record: lot({ reclaimPolicy: 'Retain' }),
    found: makeReservation(),
    plan: { keep: 'an operator provisioned it' },
  },
  {
    name: 'that an operator provisioned, where the ElasticIP no longer says which one that was',
    record: { ...lot({ reclaimPolicy: 'Retain' }), spec: { location: 'da', reclaimPolicy: 'Retain' } },
    found: makeReservation(),
    plan: { keep: 'it has no marks of this cluster' },
  },
  {
    name: 'that we ordered for an operator',
    record: { ...lot({ reclaimPolicy: 'Retain' }), spec: { location: 'da', reclaimPolicy: 'Retain' } },
    plan: 'delete',
  },
  {
    name: 'that an operator transferred from another cluster',
    record: lot({ reclaimPolicy: 'Retain' }, { 'eip-admission.dev/transfer-from-cluster': 'there' }),
    plan: { keep: 'an operator provisioned it' },
  },
  {
    name: 'whose id the provider gave to an order of another Service',
    record: requested,
    found: makeReservation({ marks: serviceMarks(scheme, 'default/next') }),
    services: [showing],
    others: [named('default.next', makeRecord({ ...held, phase: 'Bound' }))],
    plan: { keep: 'given it to another Service' },
  },
  {
    name: 'that was warm, and has the marks of its Service',
    found: makeReservation({ marks: serviceMarks(scheme, 'default/web') }),
    plan: 'delete',
  },
  {
    name: 'that was adopted, and whose id the provider gave to another Service',
    record: makeRecord({ ...held, phase: 'Releasing' }, { reservationID: 'res-1' }),
    found: makeReservation({ marks: serviceMarks(scheme, 'default/next') }),
    plan: { keep: 'given it to another Service' },
  },
  {
    name: 'of a warm address on its way, whose id the provider gave to another Service',
    record: makeRecord({ ...held, phase: 'Releasing' }, { source: { name: 'warm-da-1', type: 'WarmPool' } }),
    found: makeReservation({ marks: serviceMarks(scheme, 'default/next') }),
    plan: { keep: 'given it to another Service' },
  },
  { name: 'that an operator provisioned to go', record: lot({ reclaimPolicy: 'Delete' }), plan: 'delete' },
  {
    name: 'that an operator provisioned to go, and that has no marks',
    record: lot({ reclaimPolicy: 'Delete' }),
    found: makeReservation({ marks: {} }),
    plan: 'delete',
  },
  { name: 'whose address a Service shows', services: [showing], plan: 'wait' },
  { name: 'whose address an heir uses', services: [showing], heir: showing, plan: 'pass-on' },
  {
    name: 'that a process had marked for its heir when it died',
    found: makeReservation({ marks: serviceMarks(scheme, 'default/ghost') }),
    services: [showing],
    heir: showing,
    plan: 'pass-on',
  },
  {
    name: 'of another cluster, although there is an heir',
    found: theirs,
    services: [showing],
    heir: showing,
    plan: { keep: 'its marks name another cluster, there' },
  },
  {
    name: 'that a second record of another address holds',
    others: [named('default.b', makeRecord({ ...held, reservationID: 'res-2', phase: 'Bound' }))],
    plan: 'wait',
  },
  {
    name: 'that a second record holds',
    others: [named('default.b', makeRecord({ ...held, phase: 'Bound' }))],
    plan: { keep: 'default.b holds it' },
  },
  {
    name: 'that a second record holds and a Service shows',
    others: [named('default.b', makeRecord({ ...held, phase: 'Bound' }))],
    services: [showing],
    plan: 'wait',
  },
  {
    name: 'that a second record holds and its Service shows',
    others: [named('default.ghost', makeRecord({ ...held, phase: 'Bound' }, { claimRef: ghost }))],
    services: [showing],
    plan: { keep: 'default.ghost holds it' },
  },
  {
    name: 'that a provisioned ElasticIP waits for',
    others: [makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' })],
    plan: { keep: 'ElasticIP office names it' },
  },
  {
    name: 'that such an ElasticIP waits for, beside records that do not',
    others: [
      named(releaseRecordName('res-1'), { ...own, spec: { reclaimPolicy: 'Delete', reservationID: 'res-1' } }),
      {
        ...makeLot('older', { reservationID: 'res-1', reclaimPolicy: 'Retain' }),
        metadata: { name: 'older', ...leaving },
      },
      makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }),
    ],
    plan: { keep: 'ElasticIP office names it' },
  },
  {
    name: 'that such an ElasticIP waited for, which is being deleted',
    others: [
      {
        ...makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }),
        metadata: { name: 'office', ...leaving },
      },
    ],
    plan: 'delete',
  },
  {
    name: 'that named no cluster when we adopted it',
    found: makeReservation({ marks: adoptionMarks(scheme) }),
    plan: { keep: 'it named no cluster when it was adopted', endsAdoption: true },
  },
  {
    name: 'that has no marks',
    found: makeReservation(),
    plan: { keep: 'it has no marks of this cluster' },
  },
  {
    name: 'that has no marks and another address',
    record: requested,
    found: makeReservation({ address: '203.0.113.99' }),
    plan: { keep: 'its address is 203.0.113.99, and the record has 203.0.113.40' },
  },
  {
    name: 'with our marks, and another address than the record',
    found: makeReservation({ marks: clusterMarks(scheme), address: '203.0.113.99' }),
    plan: { keep: 'the provider shows another address, 203.0.113.99' },
  },
  {
    name: 'that an operator provisioned to go, and that has no marks after its deletion was sent',
    record: { ...lot({ reclaimPolicy: 'Delete' }), status: { ...held, deletionRequestedAt: '2026-01-31T09:00:00Z' } },
    found: makeReservation({ marks: {} }),
    plan: { keep: 'it has no marks of this cluster' },
  },
  {
    name: 'that named no cluster, where such may be deleted',
    found: makeReservation({ marks: adoptionMarks(scheme) }),
    sweepsUntagged: true,
    plan: 'delete',
  },
]

for (const { name, record = own, others = [], services = [], heir, sweepsUntagged = false, plan, ...seen } of cases) {
  test(`a reservation ${name}: ${typeof plan === 'string' ? plan : `keep, ${plan.keep}`}`, () => {
    const all = { records: [record, ...others], services, requestAnnotations: [], classes: ['none'] }
    const found = 'found' in seen ? seen.found : ours
    const planned = planDeletion({ record, reservationID: 'res-1', found, all, heir }, { scheme, sweepsUntagged })
    assert.is(planned.do, typeof plan === 'string' ? plan : 'keep')
    if (planned.do !== 'keep' || typeof plan === 'string') return
    assert.match(planned.reason, plan.keep)
    assert.is(planned.endsAdoption ?? false, plan.endsAdoption ?? false)
  })
}

testRows(
  'ledger/release/delete-reservation.ts',
  cases.map(({ name, plan }) => [name, typeof plan === 'string' ? plan : 'keep']),
  [
    'that no longer exists, after a deletion that lost its answer',
    'whose address an heir uses',
    'of another cluster, by its marks',
    'that an operator provisioned',
    'that a second record holds and its Service shows',
    'whose address a Service shows',
    'that a provisioned ElasticIP waits for',
    'that named no cluster when we adopted it',
    'with our marks, which nobody uses',
  ],
)

test.run()
