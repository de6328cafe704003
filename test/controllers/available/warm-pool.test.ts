import { ledgerWork } from '../../../ledger/ledger.ts'
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Location } from '../../../clouds/ports/cloud.ts'
import { warmPool, warmPoolController, warmPoolKey } from '../../../controllers/available/warm-pool.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot } from '../../builders.ts'
import { silentLog } from '../../fakes/log.ts'

const { signal } = new AbortController()

/** An available warm address of a location. */
function makeWarm(location: string): ElasticIP {
  const name = `warm-${location}-1`
  const status = { phase: 'Available', address: '203.0.113.1', reservationID: `res-${location}` } as const
  const source = makeLot(name, { location, reclaimPolicy: 'Delete' }, status)
  return { ...source, metadata: { name, labels: { 'eip-admission.dev/warm-pool': 'true' } } }
}

type Deps = Parameters<typeof warmPoolController>[0]

/** A pool in the location that the setting names, and the records that it has written. */
function makePool(setting: string, size = 1) {
  const cloud = { locations: undefined as Location[] | undefined }
  const written: ElasticIP[] = []
  const released: string[] = []
  const nothing = { list: () => [], onChange() {} }
  const stored: ElasticIP[] = []
  const deps = {
    caches: { services: nothing, records: { ...nothing, list: () => stored } },
    ledger: ledgerWork({
      overLimit: async () => undefined,
      records: {
        create: async (record: ElasticIP) => void written.push(record),
        writeStatus: async ({ metadata }: ElasticIP) => void released.push(metadata.name),
      },
    } as unknown as Parameters<typeof ledgerWork>[0]),
    vendor: {
      policy: {
        loadBalancing: true,
        locationSources: [{ kind: 'setting', name: 'METAL_METRO_NAME', word: 'metro', value: setting }],
      },
    },
    locations: { current: () => cloud.locations },
    want: () => ({ kind: 'nothing' }),
    settings: { cluster: { warmPool: size, unboundGraceMs: 900_000 } },
    log: silentLog,
  } as unknown as Deps
  const { reconciler, prepare } = warmPoolController(deps)
  const addedIn = () => written.map(({ spec }) => spec.location)
  const begin = () => prepare?.(signal)
  return { cloud, stored, released, begin, addedIn, look: () => reconciler.reconcile(warmPoolKey, signal) }
}

test('nothing is bought before the name of a location is known, and then under its code', async () => {
  const { cloud, addedIn, look } = makePool('DA')
  assert.equal([await look(), addedIn()], [{ againInMs: 1_000 }, []])
  cloud.locations = [{ kind: 'metro', code: 'da', name: 'Dallas' }]
  assert.equal([await look(), addedIn()], [{}, ['da']])
})

test('a provider that lists no location of a kind accepts its codes', async () => {
  const { cloud, addedIn, look } = makePool('da')
  cloud.locations = []
  await look()
  assert.equal(addedIn(), ['da'])
})

test('a pool of size 0 releases its addresses, whatever the names of the locations are', async () => {
  const { stored, released, look } = makePool('da', 0)
  stored.push(makeWarm('da'))
  await look()
  assert.equal(released, ['warm-da-1'])
})

test('in a new term an unused location is unused since its first look, not since one of a previous term', async () => {
  const graceMs = 900_000
  let nowMs = 0
  const clock = mock.method(performance, 'now', () => nowMs)
  try {
    const { cloud, stored, released, begin, look } = makePool('da')
    cloud.locations = []
    stored.push(...['da', 'sv'].map((location) => makeWarm(location)))
    const looksAt = async (ms: number) => {
      nowMs = ms
      await look()
      return released.join()
    }
    await begin()
    assert.is(await looksAt(0), '')
    // Another replica has led meanwhile, and Services of sv came and went.
    await begin()
    assert.is(await looksAt(graceMs), '')
    assert.is(await looksAt(2 * graceMs), 'warm-sv-1')
  } finally {
    clock.mock.restore()
  }
})

test('a reason why an address is missing is reported once, even if the next one can be added', async () => {
  const reported: string[] = []
  const reasons: Record<string, string> = { 'warm-da-1': 'the limit is reached' }
  const pool = warmPool({
    ledger: { addWarm: async ({ name }) => reasons[name], endWarm: async (source) => source },
    plan: () => ({ add: ['da-1', 'sv-1'].map((place) => ({ name: `warm-${place}`, location: 'da' })), surplus: [] }),
    report: (reason) => void reported.push(reason),
  })
  await pool.reconcile(warmPoolKey, signal)
  await pool.reconcile(warmPoolKey, signal)
  assert.equal(reported, ['the limit is reached'])
})

test.run()
