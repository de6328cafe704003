import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../../announcers/empty.ts'
import { planService } from '../../../controllers/services/service-plan.ts'
import type { ServiceSeen } from '../../../controllers/services/service-state.ts'
import type { ServicePlan } from '../../../controllers/services/service-step.ts'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { assigned } from '../../../ledger/record/status.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const first = '203.0.113.7'
const second = '2001:db8::7'
const one = {
  kind: 'reserve',
  location: 'da',
  family: 'ipv4',
  reclaim: 'Delete',
  warnings: [],
} satisfies Want
const required = { family: 'ipv6', isRequired: true } as const
const two: Want = { ...one, second: required }
const wrong: Want = { kind: 'wrong', problems: ['?'] }
const ignored: Want = { kind: 'ignored', reason: '?' }
const nothing: Want = { kind: 'nothing', reason: '?' }
const foreign: Want = { kind: 'foreign', reason: '?', requested: [{ address: second, where: 'an annotation' }] }
const own = (address: string): Want => ({ kind: 'own', address, where: 'spec.loadBalancerIP' })
/** As the families say, where no annotation says which one is the first. */
const swapped: Want = { ...one, family: 'ipv6', second: { family: 'ipv4', isRequired: true } }

const firstRecord = makeRecord(
  { phase: 'Bound', address: first, reservationID: 'res-1' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } },
)
function secondRecord(status?: ElasticIPStatus, uid?: string, facts: Partial<ElasticIP['spec']> = {}): ElasticIP {
  const claimRef = { namespace: 'default', name: 'web', ...(uid !== undefined && { uid }) }
  const record = makeRecord(status, { claimRef, ipFamily: 'IPv6', ...facts })
  return { ...record, metadata: { ...record.metadata, name: 'default.web.ipv6', uid: 'record-2' } }
}
const held = { address: second, reservationID: 'res-2' }
const bound = secondRecord({ phase: 'Bound', ...held }, 'uid-1')
const unbound = secondRecord({ phase: 'Reserved', ...held })
const waiting = secondRecord({ phase: 'Requested' })
const assignedTo = assigned('True', { reason: 'OnService', message: '', now: new Date(0) })
const lost = secondRecord({ phase: 'Requested', conditions: [assignedTo] })
const releasing = secondRecord({ phase: 'Releasing', ...held }, 'uid-1')
const released = secondRecord({ phase: 'Released', ...held }, undefined, { reclaimPolicy: 'Retain' })
const kept = secondRecord({ phase: 'Bound', ...held }, 'uid-1', { reclaimPolicy: 'Retain' })

const finalizers = ['eip-admission.dev/address-cleanup']
const annotations = { 'eip-admission.dev/address': first }
const shown = { finalizers, annotations, loadBalancerIP: first }
const status = (...ips: string[]) => ({ status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } })
const plain = makeService({ ...shown, ...status(first) })
const both = makeService({ ...shown, ...status(first, second) })
const ofTwo = makeService({
  ...shown,
  ...status(first, second),
  ipFamilyPolicy: 'PreferDualStack',
  ipFamilies: ['IPv4', 'IPv6'],
})
const unannotated = makeService({ finalizers, loadBalancerIP: first, ...status(first, second) })
const bare = makeService({ finalizers, ...status(first, second) })
const leaving = makeService({ ...shown, ...status(first, second), deletionTimestamp: 'now' })
const hidden = makeService({ ...shown, deletionTimestamp: 'now' })

const base = {
  key: 'default/web.ipv6',
  wanted: two,
  others: [firstRecord],
  announcer: empty(),
  requestAnnotations: { annotations: [], besideSpec: true },
  policy: { reclaimPolicy: 'Delete', allowRetain: true },
  users: () => [],
  unboundForMs: 0,
  graceMs: 900_000,
  withdrawingForMs: 0,
  announcement: undefined,
  rival: undefined,
  heir: undefined,
} satisfies Omit<ServiceSeen, 'service' | 'record'>
const claim = { do: 'claim', location: 'da', reclaim: 'Delete', family: 'ipv6', second: required } as const
const hide = { do: 'hide-in-status', addresses: [second] } satisfies ServicePlan['step']

type Case = { name: string; seen: Partial<ServiceSeen>; plan: ServicePlan }
const cases: Case[] = [
  { name: 'a Service that wants two and has one', seen: { service: plain }, plan: { step: claim } },
  { name: 'one whose request waits', seen: { service: plain, record: waiting }, plan: { step: claim } },
  { name: 'one that finds a retained address', seen: { service: plain, record: released }, plan: { step: claim } },
  { name: 'one whose first address is not there', seen: { service: plain, others: [makeRecord()] }, plan: {} },
  { name: 'one without a first record', seen: { service: plain, others: [] }, plan: {} },
  { name: 'the other family', seen: { service: plain, key: 'default/web.ipv4' }, plan: {} },
  {
    name: 'one that shows an address that the provider lost',
    seen: { service: both, record: lost },
    plan: { step: hide },
  },
  { name: 'one whose record may yet find it', seen: { service: both, record: waiting }, plan: { step: claim } },
  {
    name: 'an address that no stored Service had',
    seen: { service: plain, record: unbound },
    plan: { step: { do: 'bind', record: unbound, uid: 'uid-1' } },
  },
  {
    name: 'one that another program is to show, although it is not bound',
    seen: { service: plain, record: unbound, wanted: foreign },
    plan: {},
  },
  { name: 'a bound address', seen: { service: both, record: bound }, plan: {} },
  { name: 'one of a Service that is wrong now', seen: { service: both, record: bound, wanted: wrong }, plan: {} },
  { name: 'one of an ignored Service', seen: { service: both, record: bound, wanted: ignored }, plan: {} },
  {
    name: 'another reclaim policy',
    seen: {
      service: makeService({ ...shown, annotations: { ...annotations, 'eip-admission.dev/reclaim-policy': 'Delete' } }),
      record: kept,
    },
    plan: { step: { do: 'set-reclaim-policy', record: kept, reclaim: 'Delete' } },
  },
  {
    name: 'a Service of one family now, which shows both',
    seen: { service: both, record: bound, wanted: one },
    plan: { step: hide },
  },
  {
    name: 'the same, when it shows one',
    seen: { service: plain, record: bound, wanted: one },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'the same, while a machine has the address',
    seen: { service: plain, record: bound, wanted: one, announcement: { services: [] } },
    plan: { againInMs: 500 },
  },
  {
    name: 'the same, with a policy that retains',
    seen: { service: plain, record: kept, wanted: one },
    plan: { step: { do: 'retain', record: kept } },
  },
  {
    name: 'a Service that requests both, where a setting gives one',
    seen: { service: ofTwo, record: bound, wanted: one },
    plan: {},
  },
  {
    name: 'an unbound address that the stored Service does not want',
    seen: { service: plain, record: unbound, wanted: one },
    plan: { againInMs: 900_000 },
  },
  { name: 'a retained one of such', seen: { service: plain, record: released, wanted: one }, plan: {} },
  {
    name: 'a Service that lost our annotation',
    seen: { service: unannotated, record: bound, wanted: own(first) },
    plan: {},
  },
  {
    name: 'the same, while its request waits',
    seen: { service: unannotated, record: waiting, wanted: own(first) },
    plan: {},
  },
  {
    name: 'the same, while it is released',
    seen: { service: unannotated, record: releasing, wanted: own(first) },
    plan: { step: { do: 'release', record: releasing } },
  },
  {
    name: 'the same, when it is deleted',
    seen: { service: { ...leaving, spec: unannotated.spec }, record: bound, wanted: own(first) },
    plan: { step: hide },
  },
  {
    name: 'one that lost our annotation and our field, with its families the other way around',
    seen: { service: bare, record: bound, wanted: swapped },
    plan: {},
  },
  {
    name: 'the same, and the other family',
    seen: { service: bare, key: 'default/web.ipv4', wanted: swapped },
    plan: {},
  },
  {
    name: 'a Service with a user-chosen address',
    seen: { service: both, record: bound, wanted: own('198.51.100.9') },
    plan: { step: hide },
  },
  {
    name: 'the same, when it shows that',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.9', ...status('198.51.100.9') }),
      record: bound,
      wanted: own('198.51.100.9'),
    },
    plan: { step: { do: 'release', record: bound } },
  },
  { name: 'another type', seen: { service: both, record: bound, wanted: nothing }, plan: { step: hide } },
  { name: 'a deleted Service that shows both', seen: { service: leaving, record: bound }, plan: { step: hide } },
  {
    name: 'a protected one that shows both',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/protect': 'true' },
        ...status(first, second),
      }),
      record: bound,
      wanted: two,
    },
    plan: { step: { do: 'note-protection', record: bound, isProtected: true } },
  },
  {
    name: 'a deleted one that is protected',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/protect': 'true' },
        deletionTimestamp: 'now',
      }),
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'the same, while the record lost the address',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/protect': 'true' },
        deletionTimestamp: 'now',
      }),
      record: lost,
    },
    plan: { step: { do: 'set-reclaim-policy', record: lost, reclaim: 'Retain' } },
  },
  {
    name: 'a deleted Service that shows none',
    seen: { service: hidden, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a release that its Service does not want',
    seen: { service: plain, record: releasing },
    plan: { step: { do: 'release', record: releasing } },
  },
  {
    name: 'a release while the status shows the address still',
    seen: { service: leaving, record: releasing },
    plan: { step: hide },
  },
  {
    name: 'a release of a deleted Service that shows none',
    seen: { service: hidden, record: releasing },
    plan: { step: { do: 'release', record: releasing } },
  },
  {
    name: 'a Service that no longer exists',
    seen: { service: undefined, wanted: undefined, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
]
for (const { name, seen, plan } of cases) {
  test(`the second address, ${name}`, () => {
    assert.equal(planService({ ...base, service: plain, record: undefined, ...seen }), plan)
  })
}

const addressShown = (text: string) =>
  ({ status: 'True', reason: 'AddressShown', message: `The status shows ${text}` }) as const
const announceFirst = { do: 'announce', request: { annotations: {}, ...status(first) } } as const
const alone = { ...announceFirst, condition: addressShown(first) }
const ofFirst: Case[] = [
  {
    name: 'shows both once the second is bound',
    seen: { service: plain, others: [bound] },
    plan: {
      step: {
        do: 'announce',
        request: { annotations: {}, ...status(first, second) },
        condition: addressShown(`${first}, ${second}`),
        isShared: true,
      },
    },
  },
  { name: 'is settled when it shows both', seen: { service: both, others: [bound] }, plan: {} },
  {
    name: 'keeps the second beside it where a setting gives one',
    seen: { service: ofTwo, wanted: one, others: [bound] },
    plan: {},
  },
  { name: 'keeps the second in the status while it has no record', seen: { service: both, others: [] }, plan: {} },
  { name: 'keeps the second while its record may find it', seen: { service: both, others: [waiting] }, plan: {} },
  { name: 'keeps the second when its record has found it', seen: { service: both, others: [unbound] }, plan: {} },
  {
    name: 'keeps what is shown where a setting gives one, while the record may find it',
    seen: { service: ofTwo, wanted: one, others: [secondRecord(undefined, 'uid-1')] },
    plan: {},
  },
  {
    name: 'does not keep what is shown when the record holds another',
    seen: { service: both, others: [secondRecord({ ...unbound.status, address: '2001:db8::8' })] },
    plan: { step: announceFirst },
  },
  {
    name: 'does not keep a second that the provider lost',
    seen: { service: both, others: [lost] },
    plan: { step: alone },
  },
  {
    name: 'does not keep one that the Service does not want',
    seen: { service: both, wanted: one, others: [] },
    plan: { step: alone },
  },
  {
    name: 'that is lost goes from the status, and a second without a record stays',
    seen: { service: both, record: makeRecord({ phase: 'Requested', conditions: [assignedTo] }), others: [] },
    plan: { step: { do: 'clear-status', isOverdue: false, kept: [second] } },
  },
  { name: 'does not show an unbound one', seen: { service: plain, others: [unbound] }, plan: {} },
  {
    name: 'shows what arrived, and keeps what it shows',
    seen: {
      service: plain,
      others: [bound],
      announcer: { request: (address) => (address === second ? empty().request(address) : {}) },
    },
    plan: {
      step: {
        do: 'announce',
        request: { annotations: {}, ...status(first, second) },
        condition: addressShown(`${first}, ${second}`),
        isShared: true,
      },
    },
  },
  {
    name: 'that is lost goes from the status, and the second stays',
    seen: { service: both, record: makeRecord({ phase: 'Requested', conditions: [assignedTo] }), others: [bound] },
    plan: { step: { do: 'clear-status', isOverdue: false, kept: [second] } },
  },
  {
    name: 'keeps the finalizer until the second is released',
    seen: { service: hidden, record: undefined, others: [releasing] },
    plan: { againInMs: 1_000 },
  },
  {
    name: 'does not wait for a retained second',
    seen: { service: hidden, record: undefined, others: [released] },
    plan: { step: { do: 'remove-finalizers' } },
  },
]
for (const { name, seen, plan } of ofFirst) {
  test(`the first address ${name}`, () => {
    const all = { ...base, key: 'default/web', service: plain, record: firstRecord, ...seen }
    assert.equal(planService(all), plan)
  })
}

/** The word of a plan in the table. */
const wordOf = ({ step, againInMs }: ServicePlan) => step?.do ?? (againInMs === undefined ? '-' : 'wait')
testRows(
  'controllers/services/second-plan.ts',
  cases.map(({ name, plan }) => [name, wordOf(plan)]),
  [
    'the same, while it is released',
    'a release while the status shows the address still',
    'a release of a deleted Service that shows none',
    'a Service that no longer exists',
    'one of an ignored Service',
    'an unbound address that the stored Service does not want',
    'a Service of one family now, which shows both',
    'the same, while the record lost the address',
    'the same, when it shows one',
    'a Service that lost our annotation',
    'one whose first address is not there',
    'one that shows an address that the provider lost',
    'a Service that wants two and has one',
    'one that another program is to show, although it is not bound',
    'an address that no stored Service had',
    'another reclaim policy',
    'a protected one that shows both',
    'a bound address',
  ],
)

test.run()
