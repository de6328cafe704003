import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AvailableSeen, planAvailable } from '../../../controllers/available/available-plan.ts'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const reserved = { address: '203.0.113.1', reservationID: 'res-1' }
const office = { reservationID: 'res-1', reclaimPolicy: 'Retain' } as const
const taken = { claimRef: { namespace: 'default', name: 'web', elasticIPUID: 'record-1' } }
const deleted = '2026-01-31T09:00:00Z'

const held = (source: ElasticIP): ElasticIP => {
  return { ...source, metadata: { ...source.metadata, finalizers: ['eip-admission.dev/reservation-cleanup'] } }
}
const warm = (status?: ElasticIPStatus, spec: Partial<ElasticIP['spec']> = {}) => {
  const source = held(makeLot('warm-da-1', { location: 'da', reclaimPolicy: 'Delete', ...spec }, status))
  return { ...source, metadata: { ...source.metadata, labels: { 'eip-admission.dev/warm-pool': 'true' } } }
}
const lent = (status?: ElasticIPStatus, spec: Partial<ElasticIP['spec']> = {}) =>
  held(makeLot('office', { ...office, ...spec }, status))
const edited = (source: ElasticIP) => ({ ...source, metadata: { ...source.metadata, generation: 3 } })
const moving = (source: ElasticIP) => ({
  ...source,
  metadata: { ...source.metadata, annotations: { 'eip-admission.dev/allowed-before-move': '*' } },
})
const gone = (source: ElasticIP) => ({ ...source, metadata: { ...source.metadata, deletionTimestamp: deleted } })
const taker = (name: string, facts: ElasticIPStatus = { phase: 'Reserved', ...reserved }) =>
  makeRecord(facts, { source: { name, type: name === 'office' ? 'Provisioned' : 'WarmPool' } })

const available = { phase: 'Available', ...reserved } as const
const bound = { phase: 'Bound', ...reserved } as const

const cases: { name: string; seen: AvailableSeen; step: string | undefined }[] = [
  { name: 'a new record of the pool is asked for', seen: { source: warm(), record: undefined }, step: 'reserve' },
  {
    name: 'and again when the provider could not be reached',
    seen: { source: warm({ phase: 'Requested', message: 'it is down' }), record: undefined },
    step: 'reserve',
  },
  { name: 'a warm address waits', seen: { source: warm(available), record: undefined }, step: undefined },
  {
    name: 'what is too much goes back',
    seen: { source: warm({ ...available, phase: 'Releasing' }), record: undefined },
    step: 'release',
  },
  { name: 'what a person wrote is looked up', seen: { source: lent(), record: undefined }, step: 'provision' },
  { name: 'what is provisioned waits', seen: { source: lent(available), record: undefined }, step: undefined },
  {
    name: 'a status that is about an earlier spec is written again',
    seen: { source: edited(lent(available)), record: undefined },
    step: 'observe',
  },
  {
    name: 'but not between the two writes of a move: the second one would meet a conflict',
    seen: { source: moving(edited(lent(available))), record: undefined },
    step: undefined,
  },
  {
    name: 'nor while a claim is on its way: its last status is about the newest spec',
    seen: { source: edited(lent(available, taken)), record: taker('office') },
    step: undefined,
  },
  {
    name: 'what cleanup left without our finalizer gets it',
    seen: { source: makeLot('office', office, available), record: undefined },
    step: 'add-finalizer',
  },
  {
    name: 'and so does what a Service has',
    seen: { source: makeLot('office', { ...office, ...taken }, bound), record: taker('office', bound) },
    step: 'add-finalizer',
  },
  {
    name: 'but nothing that is about to go',
    seen: { source: gone(makeLot('office', office, available)), record: undefined },
    step: 'release',
  },
  {
    name: 'deleted by hand it is released as its policy says',
    seen: { source: gone(lent(available)), record: undefined },
    step: 'release',
  },
  {
    name: 'deleted before it was anything it is forgotten',
    seen: { source: gone(lent()), record: undefined },
    step: 'remove',
  },
  {
    name: 'deleted while the provider may be at it, it is looked for',
    seen: { source: gone(warm({ phase: 'Requested' })), record: undefined },
    step: 'release',
  },
  {
    name: 'while a claim is at it nobody interferes',
    seen: { source: warm(available, taken), record: taker('warm-da-1', { phase: 'Requested' }) },
    step: undefined,
  },
  {
    name: 'a warm address that a record has is handed over',
    seen: { source: warm(available, taken), record: taker('warm-da-1') },
    step: 'transfer',
  },
  {
    name: 'also where somebody emptied its status',
    seen: { source: warm(undefined, taken), record: taker('warm-da-1') },
    step: 'transfer',
  },
  {
    name: 'but not where nobody knows any more which one it is',
    seen: {
      source: warm(undefined, taken),
      record: taker('warm-da-1', { phase: 'Bound', address: '203.0.113.40' }),
    },
    step: undefined,
  },
  {
    name: 'also while its Service already goes',
    seen: { source: warm(available, taken), record: taker('warm-da-1', { phase: 'Releasing', ...reserved }) },
    step: 'transfer',
  },
  {
    name: 'what a record took that no longer exists is put back',
    seen: { source: warm(available, taken), record: undefined },
    step: 'reclaim',
  },
  {
    name: 'a claim of an earlier record of the name is restored for the record that holds the address',
    seen: {
      source: warm(available, { claimRef: { ...taken.claimRef, elasticIPUID: 'record-0' } }),
      record: taker('warm-da-1'),
    },
    step: 'restore-claim',
  },
  {
    name: 'a restored address is looked up although a record of its name has it',
    seen: {
      source: lent(undefined, { claimRef: { ...taken.claimRef, elasticIPUID: 'record-0' } }),
      record: taker('office'),
    },
    step: 'provision',
  },
  {
    name: 'and what its record found another for',
    seen: {
      source: warm(available, taken),
      record: makeRecord({ phase: 'Reserved', address: '203.0.113.9', reservationID: 'res-9' }),
    },
    step: 'reclaim',
  },
  {
    name: 'a lent address is not handed over',
    seen: { source: lent(available, taken), record: taker('office') },
    step: undefined,
  },
  {
    name: 'it is bound when its Service was seen',
    seen: { source: lent(available, taken), record: taker('office', { phase: 'Bound', ...reserved }) },
    step: 'bind',
  },
  {
    name: 'and stays so, deleted by hand or not',
    seen: { source: gone(lent(bound, taken)), record: taker('office', { phase: 'Bound', ...reserved }) },
    step: undefined,
  },
  {
    name: 'it is put back when the record no longer exists',
    seen: { source: lent(bound, taken), record: undefined },
    step: 'reclaim',
  },
  {
    name: 'who has it is written down again',
    seen: { source: lent(bound), record: taker('office') },
    step: 'restore-claim',
  },
  { name: 'one that nobody has any more is free', seen: { source: lent(bound), record: undefined }, step: 'reclaim' },
  {
    name: 'one that the provider has lost is looked for',
    seen: { source: lent({ phase: 'Requested' }, taken), record: taker('office', { phase: 'Requested' }) },
    step: 'provision',
  },
  {
    name: 'a record forgets the stock that no longer exists',
    seen: { source: undefined, record: taker('warm-da-1') },
    step: 'clear-source',
  },
  {
    name: 'and one of the same name that it did not take',
    seen: { source: warm({ ...available, reservationID: 'res-2' }), record: taker('warm-da-1') },
    step: 'clear-source',
  },
  {
    name: 'but never the name of other stock, from which the record has its address',
    seen: {
      source: warm(available, { claimRef: { namespace: 'default', name: 'web' } }),
      record: taker('warm-da-2', { phase: 'Reserved', address: '203.0.113.2', reservationID: 'res-2' }),
    },
    step: undefined,
  },
  { name: 'never who lent it the address', seen: { source: undefined, record: taker('office') }, step: undefined },
  {
    name: "a Service's own record is no stock",
    seen: { source: makeRecord(available), record: undefined },
    step: undefined,
  },
]

for (const { name, seen, step } of cases) {
  test(name, () => assert.is(planAvailable(seen)?.do, step))
}

testRows(
  'controllers/available/available-plan.ts',
  cases.map(({ name, step }) => [name, step ?? '-']),
  [
    'a record forgets the stock that no longer exists',
    "a Service's own record is no stock",
    'who has it is written down again',
    'what is too much goes back',
    'a restored address is looked up although a record of its name has it',
    'and what its record found another for',
    'one that the provider has lost is looked for',
    'a warm address that a record has is handed over',
    'it is bound when its Service was seen',
    'while a claim is at it nobody interferes',
    'and one of the same name that it did not take',
    'one that nobody has any more is free',
    'but nothing that is about to go',
    'deleted before it was anything it is forgotten',
    'a new record of the pool is asked for',
    'what a person wrote is looked up',
    'what cleanup left without our finalizer gets it',
    'a status that is about an earlier spec is written again',
    'a warm address waits',
  ],
)

test.run()
