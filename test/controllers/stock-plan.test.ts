import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type StockSeen, planStock } from '../../controllers/stock-plan.ts'
import type { ElasticIP, ElasticIPStatus } from '../../ledger/elastic-ip.ts'
import { makeLot, makeRecord } from '../builders.ts'

const reserved = { address: '203.0.113.1', reservationID: 'res-1' }
const office = { reservationID: 'res-1', reclaimPolicy: 'Retain' } as const
const taken = { claimRef: { namespace: 'default', name: 'web', record: 'record-1' } }
const deleted = '2026-01-31T09:00:00Z'

const warm = (status?: ElasticIPStatus, spec: Partial<ElasticIP['spec']> = {}) => {
  const lot = makeLot('warm-da-1', { location: 'da', reclaimPolicy: 'Delete', ...spec }, status)
  return { ...lot, metadata: { ...lot.metadata, labels: { 'eip-admission.dev/warm': 'true' } } }
}
const lent = (status?: ElasticIPStatus, spec: Partial<ElasticIP['spec']> = {}) =>
  makeLot('office', { ...office, ...spec }, status)
const gone = (lot: ElasticIP) => ({ ...lot, metadata: { ...lot.metadata, deletionTimestamp: deleted } })
const taker = (name: string, facts: ElasticIPStatus = { phase: 'Reserved', ...reserved }) =>
  makeRecord(facts, { from: { name, lent: name === 'office' } })

const available = { phase: 'Available', ...reserved } as const
const bound = { phase: 'Bound', ...reserved } as const

const cases: { name: string; seen: StockSeen; step: string | undefined }[] = [
  { name: 'a new record of the pool is asked for', seen: { lot: warm(), record: undefined }, step: 'ask' },
  {
    name: 'and again when the cloud could not be reached',
    seen: { lot: warm({ phase: 'Requested', message: 'it is down' }), record: undefined },
    step: 'ask',
  },
  { name: 'a warm address waits', seen: { lot: warm(available), record: undefined }, step: undefined },
  {
    name: 'what is too much goes back',
    seen: { lot: warm({ ...available, phase: 'Releasing' }), record: undefined },
    step: 'release',
  },
  { name: 'what a person wrote is looked up', seen: { lot: lent(), record: undefined }, step: 'provision' },
  { name: 'what is provisioned waits', seen: { lot: lent(available), record: undefined }, step: undefined },
  {
    name: 'deleted by hand it is released as its policy says',
    seen: { lot: gone(lent(available)), record: undefined },
    step: 'release',
  },
  {
    name: 'deleted before it was anything it is forgotten',
    seen: { lot: gone(lent()), record: undefined },
    step: 'forget',
  },
  {
    name: 'deleted while the cloud may be at it, it is looked for',
    seen: { lot: gone(warm({ phase: 'Requested' })), record: undefined },
    step: 'release',
  },
  {
    name: 'while a claim is at it nobody interferes',
    seen: { lot: warm(available, taken), record: taker('warm-da-1', { phase: 'Requested' }) },
    step: undefined,
  },
  {
    name: 'a warm address that a record has is handed over',
    seen: { lot: warm(available, taken), record: taker('warm-da-1') },
    step: 'hand-over',
  },
  {
    name: 'also while its Service already goes',
    seen: { lot: warm(available, taken), record: taker('warm-da-1', { phase: 'Releasing', ...reserved }) },
    step: 'hand-over',
  },
  {
    name: 'what a record took that is gone is put back',
    seen: { lot: warm(available, taken), record: undefined },
    step: 'retire',
  },
  {
    name: 'and what went to an earlier record of the name',
    seen: {
      lot: warm(available, { claimRef: { ...taken.claimRef, record: 'record-0' } }),
      record: taker('warm-da-1'),
    },
    step: 'retire',
  },
  {
    name: 'and what its record found another for',
    seen: {
      lot: warm(available, taken),
      record: makeRecord({ phase: 'Reserved', address: '203.0.113.9', reservationID: 'res-9' }),
    },
    step: 'retire',
  },
  {
    name: 'a lent address is not handed over',
    seen: { lot: lent(available, taken), record: taker('office') },
    step: undefined,
  },
  {
    name: 'it is bound when its Service was seen',
    seen: { lot: lent(available, taken), record: taker('office', { phase: 'Bound', ...reserved }) },
    step: 'bind',
  },
  {
    name: 'and stays so, deleted by hand or not',
    seen: { lot: gone(lent(bound, taken)), record: taker('office', { phase: 'Bound', ...reserved }) },
    step: undefined,
  },
  {
    name: 'it is put back when the record is gone',
    seen: { lot: lent(bound, taken), record: undefined },
    step: 'retire',
  },
  { name: 'who has it is written down again', seen: { lot: lent(bound), record: taker('office') }, step: 'take-again' },
  { name: 'one that nobody has any more is free', seen: { lot: lent(bound), record: undefined }, step: 'retire' },
  {
    name: 'one that the cloud has lost is looked for',
    seen: { lot: lent({ phase: 'Requested' }, taken), record: taker('office', { phase: 'Requested' }) },
    step: 'provision',
  },
  {
    name: 'a record forgets the stock that is gone',
    seen: { lot: undefined, record: taker('warm-da-1') },
    step: 'forget-source',
  },
  {
    name: 'and one of the same name that it did not take',
    seen: { lot: warm({ ...available, reservationID: 'res-2' }), record: taker('warm-da-1') },
    step: 'forget-source',
  },
  { name: 'never who lent it the address', seen: { lot: undefined, record: taker('office') }, step: undefined },
  {
    name: "a Service's own record is no stock",
    seen: { lot: makeRecord(available), record: undefined },
    step: undefined,
  },
]

for (const { name, seen, step } of cases) {
  test(name, () => assert.is(planStock(seen)?.do, step))
}

test.run()
