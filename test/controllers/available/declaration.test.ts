import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { availableAddress, availableAddressController } from '../../../controllers/available/declaration.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord } from '../../builders.ts'

type Listener = (name: string, current?: ElasticIP, previous?: ElasticIP) => void

/** The keys that a change of a record adds to the queue. */
function wokenBy(current: ElasticIP | undefined, previous: ElasticIP | undefined): string[] {
  let change: Listener = () => {}
  const records = { list: () => [], onChange: (listener: Listener) => void (change = listener) }
  const { watches = [] } = availableAddressController({
    caches: { services: { list: () => [], onChange() {} }, records },
    ledger: { provisionedCheck: () => ({ check: async () => ({}), forget() {} }) },
    events: { of: () => ({ record() {} }) },
    vendor: { policy: { requestAnnotations: { annotations: [], besideSpec: true } } },
    settings: { cluster: { sweepIntervalMs: 1 } },
  } as unknown as Parameters<typeof availableAddressController>[0])
  const woken = new Set<string>()
  for (const subscribe of watches) subscribe((key) => void woken.add(key))
  change('any', current, previous)
  return [...woken]
}

const lot = { reclaimPolicy: 'Retain' } as const
const requested = makeLot('lot', lot, { phase: 'Requested' })
const failed = makeLot('lot', lot, { phase: 'Requested', lastError: 'quota' } as ElasticIP['status'])
const available = makeLot('lot', lot, { phase: 'Available', address: '203.0.113.1', reservationID: 'res-1' })
const plain = makeRecord({ phase: 'Requested' })
const claiming = makeRecord({ phase: 'Requested' }, { source: { name: 'lot', type: 'Provisioned' } })

const changes: [name: string, current: ElasticIP | undefined, previous: ElasticIP | undefined, woken: string[]][] = [
  ['a new source, which has no reservation yet', requested, undefined, ['lot']],
  ['a source that gets its address', available, requested, ['lot']],
  ['a source whose request failed, which waits for its back-off', failed, requested, []],
  ['a source that is deleted', undefined, available, ['lot']],
  ["a new record of a Service's own", plain, undefined, []],
  ['a record that claims a source', claiming, plain, ['lot']],
  ['a deleted record that had claimed a source', undefined, claiming, ['lot']],
]
for (const [name, current, previous, woken] of changes)
  test(name, () => assert.equal(wokenBy(current, previous), woken))

test('a record that names another source by now keeps that name when its former source is deleted', async () => {
  const steps: string[] = []
  const reconcile = (source: string) =>
    availableAddress({
      getRecord: async (name) =>
        name === 'default.web'
          ? makeRecord({ phase: 'Reserved' }, { source: { name: source, type: 'WarmPool' } })
          : undefined,
      // The cache still shows the former source.
      claimantsOf: () => ['default.web'],
      carryOut: async (step) => {
        steps.push(step.do)
        return {}
      },
      check: async () => ({}),
    }).reconcile('warm-da-1', new AbortController().signal)
  await reconcile('warm-da-2')
  assert.equal(steps, [])
  await reconcile('warm-da-1')
  assert.equal(steps, ['clear-source'])
})

test('the records that claim a deleted source are those that name it', async () => {
  const other = makeRecord({ phase: 'Reserved' }, { source: { name: 'warm-da-2', type: 'WarmPool' } })
  const claim = makeRecord({ phase: 'Reserved' }, { source: { name: 'warm-da-1', type: 'WarmPool' } })
  const [first, second] = [
    { ...other, metadata: { ...other.metadata, name: 'default.first' } },
    { ...claim, metadata: { ...claim.metadata, name: 'default.second' } },
  ]
  const records = [first, second]
  const cleared: string[] = []
  const { reconciler } = availableAddressController({
    caches: { services: { list: () => [], onChange() {} }, records: { list: () => records, onChange() {} } },
    ledger: {
      provisionedCheck: () => ({ check: async () => ({}), forget() {} }),
      getRecord: async (name: string) => records.find(({ metadata }) => metadata.name === name),
      clearSource: async ({ metadata }: ElasticIP) => void cleared.push(metadata.name),
    },
    events: { of: () => ({ record() {} }) },
    vendor: { policy: { requestAnnotations: { annotations: [], besideSpec: true } } },
    settings: { cluster: { sweepIntervalMs: 1 } },
  } as unknown as Parameters<typeof availableAddressController>[0])
  // The record keeps its source here, so the step repeats until its limit.
  await reconciler.reconcile('warm-da-1', new AbortController().signal).catch(() => {})
  assert.equal([...new Set(cleared)], ['default.second'])
})

test('a warm address that another process reserves at the moment is looked at again, without an error', async () => {
  const warm = makeLot('warm-da-1', { reclaimPolicy: 'Delete' }, { phase: 'Requested' })
  const labelled = { ...warm, metadata: { name: 'warm-da-1', labels: { 'eip-admission.dev/warm-pool': 'true' } } }
  const { reconciler } = availableAddressController({
    caches: { services: { list: () => [], onChange() {} }, records: { list: () => [labelled], onChange() {} } },
    ledger: {
      provisionedCheck: () => ({ check: async () => ({}), forget() {} }),
      getRecord: async () => labelled,
      claims: { track: <T>(work: T) => work },
      reserveWarm: async () => ({ kind: 'busy', reason: 'another process reserves it' }),
    },
    events: { of: () => ({ record() {} }) },
    vendor: { policy: { requestAnnotations: { annotations: [], besideSpec: true } } },
    settings: { cluster: { sweepIntervalMs: 1 } },
  } as unknown as Parameters<typeof availableAddressController>[0])
  assert.ok((await reconciler.reconcile('warm-da-1', new AbortController().signal)).againInMs)
})

test.run()
