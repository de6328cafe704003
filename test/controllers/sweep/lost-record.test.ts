import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lostRecordController } from '../../../controllers/sweep/declaration.ts'
import type { Listener } from '../../../kube/reflector.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord } from '../../builders.ts'
import { neverAborted } from '../../ledger/harness.ts'

/** How often the adoption mark is removed when a record changes so. */
async function clearsAt(previous: ElasticIP | undefined, current: ElasticIP | undefined): Promise<number> {
  const listeners: Listener<ElasticIP>[] = []
  let clears = 0
  const { reconciler, watches = [] } = lostRecordController({
    caches: { records: { onChange: (listener) => void listeners.push(listener) } },
    ledger: { mark: { clear: () => Promise.resolve(void (clears += 1)) } },
  })
  const keys: string[] = []
  for (const subscribe of watches) subscribe((key) => void keys.push(key))
  for (const listener of listeners) listener('default.web', current, previous)
  for (const key of keys) await reconciler.reconcile(key, neverAborted)
  return clears
}

const held = { phase: 'Released', address: '203.0.113.8', reservationID: 'res-8' } as const
const source = (type: 'Provisioned' | 'WarmPool') => ({ source: { type, name: 'lot' } })
const available = makeLot('lot', { location: 'da', reclaimPolicy: 'Delete' }, { ...held, phase: 'Available' })

const cases: [name: string, previous: ElasticIP | undefined, current: ElasticIP | undefined, clears: number][] = [
  ['a retained address loses its record', makeRecord(held), undefined, 1],
  ['an address in use loses it', makeRecord({ ...held, phase: 'Bound' }), undefined, 1],
  ['a release that has not begun at the provider loses it', makeRecord({ ...held, phase: 'Releasing' }), undefined, 1],
  ['an adopted one without a status loses it', makeRecord(undefined, { reservationID: 'res-8' }), undefined, 1],
  ['one that was warm loses it', makeRecord(held, source('WarmPool')), undefined, 1],
  [
    'the reservation is being deleted',
    makeRecord({ ...held, phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' }),
    undefined,
    0,
  ],
  ['nothing was reserved', makeRecord({ phase: 'Requested' }), undefined, 0],
  ['the address goes back to its administrator', makeRecord(held, source('Provisioned')), undefined, 0],
  ['an available address loses its own record', available, undefined, 0],
  ['a record changes', makeRecord(held), makeRecord({ ...held, phase: 'Bound' }), 0],
  ['a record is new', undefined, makeRecord(held), 0],
]
for (const [name, previous, current, clears] of cases)
  test(`${clears === 1 ? 'claims look for reservations again' : 'the adoption mark stays'} when ${name}`, async () => {
    assert.is(await clearsAt(previous, current), clears)
  })

test.run()
