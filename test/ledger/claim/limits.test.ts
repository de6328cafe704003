import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP, Phase } from '../../../ledger/record/elastic-ip.ts'
import { type Limits, overLimit } from '../../../ledger/claim/limits.ts'
import { makeRecord } from '../../builders.ts'

function held(namespace: string, name: string, phase: Phase = 'Bound'): ElasticIP {
  const record = makeRecord({ phase }, { claimRef: { namespace, name } })
  return { ...record, metadata: { ...record.metadata, name: `${namespace}.${name}` } }
}

const requested = held('shop', 'web', 'Requested')
const none: Limits = { cluster: undefined, namespace: undefined }

const cases: { name: string; all: ElasticIP[]; limits: Limits; reason: string | undefined }[] = [
  {
    name: 'without limits every record passes',
    all: [held('a', 'b'), held('shop', 'c')],
    limits: none,
    reason: undefined,
  },
  {
    name: 'a record within the limit passes',
    all: [held('shop', 'a'), requested],
    limits: { ...none, namespace: 2 },
    reason: undefined,
  },
  {
    name: 'a record above the limit is refused, with the names of the holders',
    all: [held('shop', 'a'), held('shop', 'b', 'Released'), requested],
    limits: { ...none, namespace: 2 },
    reason:
      'the limit of 2 addresses in namespace shop is reached (--max-addresses-per-namespace); they are held by shop/a, shop/b (Released)',
  },
  {
    name: 'a record whose deletion was requested does not count',
    all: [
      {
        ...held('shop', 'a', 'Releasing'),
        status: { phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' },
      },
      requested,
    ],
    limits: { cluster: 1, namespace: 1 },
    reason: undefined,
  },
  {
    name: 'other namespaces do not count towards the limit of a namespace',
    all: [held('a', 'b'), requested],
    limits: { ...none, namespace: 1 },
    reason: undefined,
  },
  {
    name: 'all namespaces count towards the limit of the cluster, and no other namespace is named',
    all: [held('a', 'b'), requested],
    limits: { ...none, cluster: 1 },
    reason: 'the limit of 1 address in the cluster is reached (--max-addresses)',
  },
  {
    name: 'of the holders in the cluster those of the own namespace are named',
    all: [held('a', 'b'), held('shop', 'c'), requested],
    limits: { ...none, cluster: 2 },
    reason: 'the limit of 2 addresses in the cluster is reached (--max-addresses); 1 of them are held by shop/c',
  },
  {
    name: 'of many holders ten are named',
    all: Array.from({ length: 12 }, (_, n) => held('shop', `s${n}`)),
    limits: { ...none, namespace: 12 },
    reason:
      'the limit of 12 addresses in namespace shop is reached (--max-addresses-per-namespace); they are held by shop/s0, shop/s1, shop/s2, shop/s3, ' +
      'shop/s4, shop/s5, shop/s6, shop/s7, shop/s8, shop/s9 and 2 more',
  },
  {
    name: 'a limit of 0 refuses every record',
    all: [requested],
    limits: { ...none, namespace: 0 },
    reason: 'the limit of 0 addresses in namespace shop is reached (--max-addresses-per-namespace)',
  },
]

for (const { name, all, limits, reason } of cases) {
  test(name, () => assert.is(overLimit(requested, all, limits), reason))
}

function at(record: ElasticIP, second: number, name = record.metadata.name): ElasticIP {
  const creationTimestamp = `2026-01-31T09:00:0${second}Z`
  return { ...record, metadata: { ...record.metadata, name, creationTimestamp } }
}
const asNew = ({ status: _unanswered, ...record }: ElasticIP): ElasticIP => record
const reserved = ({ status, ...record }: ElasticIP): ElasticIP => ({
  ...record,
  status: { ...status, reservationID: 'res-2' },
})
const first = asNew(at(requested, 1))
const second = asNew(at(requested, 1, 'shop.web.ipv6'))
const two: { name: string; record: ElasticIP; all: ElasticIP[]; limit: number; passes: boolean }[] = [
  { name: 'the first, with room for one', record: first, all: [first, second], limit: 1, passes: true },
  { name: 'the second, with room for one', record: second, all: [first, second], limit: 1, passes: false },
  { name: 'the second, with room for two', record: second, all: [first, second], limit: 2, passes: true },
  { name: 'the second in a preview', record: second, all: [], limit: 1, passes: false },
  {
    name: 'the first, after the second got its address',
    record: first,
    all: [first, reserved(second)],
    limit: 1,
    passes: false,
  },
  {
    name: 'a first that was written again, after its second',
    record: asNew(at(requested, 2)),
    all: [second],
    limit: 1,
    passes: false,
  },
  {
    name: 'another Service, with room for two',
    record: asNew(at(held('shop', 'db'), 2)),
    all: [first, second],
    limit: 2,
    passes: false,
  },
]
for (const { name, record, all, limit, passes } of two) {
  test(`of two addresses ${name}: ${passes ? 'passes' : 'is refused'}`, () => {
    assert.is(overLimit(record, all, { ...none, cluster: limit }) === undefined, passes)
  })
}

test('a refusal names both addresses of a Service', () => {
  const all = [held('shop', 'a'), at(held('shop', 'a'), 0, 'shop.a.ipv6')]
  assert.match(overLimit(requested, all, { ...none, cluster: 2 }) ?? '', /held by shop\/a, shop\/a \(IPv4\)$/)
})

test.run()
