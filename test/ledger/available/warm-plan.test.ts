import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import { type WarmSeen, planWarm } from '../../../ledger/available/warm-plan.ts'
import { makeLot } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const free: ElasticIPStatus = { phase: 'Available', address: '203.0.113.1', reservationID: 'res-1' }
const taken = { claimRef: { namespace: 'default', name: 'web', elasticIPUID: 'record-1' } }

function warm(
  name: string,
  status: ElasticIPStatus | undefined = free,
  spec: Partial<ElasticIP['spec']> = {},
): ElasticIP {
  const source = makeLot(name, { location: 'da', reclaimPolicy: 'Delete', ...spec }, status)
  const metadata = {
    name,
    labels: { 'eip-admission.dev/warm-pool': 'true' },
  }
  return { ...source, metadata }
}

const cases: { name: string; seen: Partial<WarmSeen>; add?: string[]; surplus?: string[] }[] = [
  { name: 'a size of 0 adds nothing', seen: { size: 0 } },
  { name: 'an empty pool gets its first address', seen: {}, add: ['warm-da-1'] },
  {
    name: 'nothing is added while one has no address yet',
    seen: { records: [warm('warm-da-1', { phase: 'Requested' })] },
  },
  {
    name: 'a pool with one address of two gets the second',
    seen: { records: [warm('warm-da-1')] },
    add: ['warm-da-2'],
  },
  { name: 'a full pool stays as it is', seen: { records: [warm('warm-da-1'), warm('warm-da-2')] } },
  {
    name: 'a claimed warm record keeps its number until it is transferred',
    seen: { records: [warm('warm-da-1', free, taken), warm('warm-da-2')] },
  },
  {
    name: 'each location has its own pool',
    seen: { records: [warm('warm-da-1'), warm('warm-da-2')], locations: new Set(['da', 'sv']) },
    add: ['warm-sv-1'],
  },
  {
    name: 'the number of an address that was taken out of the pool is skipped',
    seen: { records: [makeLot('warm-da-1', { location: 'da', reclaimPolicy: 'Retain' }, free), warm('warm-da-2')] },
    add: ['warm-da-3'],
  },
  {
    name: 'a smaller pool releases the highest numbers that are not claimed',
    seen: { size: 1, records: [warm('warm-da-1'), warm('warm-da-2'), warm('warm-da-3', free, taken)] },
    surplus: ['warm-da-2'],
  },
  {
    name: 'a size of 0 releases all warm addresses at once',
    seen: { size: 0, locations: new Set(), records: [warm('warm-da-1')] },
    surplus: ['warm-da-1'],
  },
  {
    name: 'a location that is no longer used keeps its warm addresses for the grace period',
    seen: { locations: new Set(['sv']), records: [warm('warm-da-1')] },
    add: ['warm-sv-1'],
  },
  {
    name: 'a location that is no longer used loses its warm addresses after the grace period',
    seen: { locations: new Set(['sv']), records: [warm('warm-da-1')], graceMs: 60_000 },
    add: ['warm-sv-1'],
    surplus: ['warm-da-1'],
  },
  {
    name: 'an address under another spelling of a location leaves the pool, although its name is one of the pool',
    seen: { records: [warm('warm-da-1', free, { location: 'DA' }), warm('warm-da-2')], graceMs: 60_000 },
    surplus: ['warm-da-1'],
  },
  {
    name: 'a warm address that is being released is not released again',
    seen: { size: 0, records: [warm('warm-da-1', { ...free, phase: 'Releasing' })] },
  },
  {
    name: 'characters of a location that a name may not have become dashes',
    seen: { size: 1, locations: new Set(['eu_nord_1']) },
    add: ['warm-eu-nord-1-1'],
  },
  {
    name: 'capitals of a location become small letters in the name',
    seen: { size: 1, locations: new Set(['LT-Siauliai']) },
    add: ['warm-lt-siauliai-1'],
  },
]

for (const { name, seen, add = [], surplus = [] } of cases) {
  test(name, () => {
    const plan = planWarm({
      records: [],
      locations: new Set(['da']),
      size: 2,
      unusedForMs: () => 600_000,
      graceMs: 900_000,
      ...seen,
    })
    assert.equal(
      plan.add.map((one) => one.name),
      add,
    )
    assert.equal(
      plan.surplus.map(({ metadata }) => metadata.name),
      surplus,
    )
  })
}

/** The words of a plan in the table. */
const wordOf = ({ add = [], surplus = [] }: { add?: string[]; surplus?: string[] }) =>
  surplus.length > 0 ? 'surplus' : add.length > 0 ? 'add|keep' : 'nothing|keep'
testRows(
  'ledger/available/warm-plan.ts',
  cases.map(({ name, ...plan }) => [name, wordOf(plan)]),
  [
    'an empty pool gets its first address',
    'nothing is added while one has no address yet',
    'a full pool stays as it is',
    'a smaller pool releases the highest numbers that are not claimed',
    'a location that is no longer used loses its warm addresses after the grace period',
    'a location that is no longer used keeps its warm addresses for the grace period',
    'an address under another spelling of a location leaves the pool, although its name is one of the pool',
    'a claimed warm record keeps its number until it is transferred',
    'the number of an address that was taken out of the pool is skipped',
  ],
)

test.run()
