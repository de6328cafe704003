import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Location } from '../../../clouds/ports/cloud.ts'
import { warmPoolController, warmPoolKey } from '../../../controllers/available/warm-pool.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { silentLog } from '../../fakes/log.ts'

const { signal } = new AbortController()

type Deps = Parameters<typeof warmPoolController>[0]

/** A pool of one address in the location that the setting names, and the records that it has written. */
function makePool(setting: string) {
  const cloud = { locations: undefined as Location[] | undefined }
  const written: ElasticIP[] = []
  const nothing = { list: () => [], onChange() {} }
  const deps = {
    caches: { services: nothing, records: nothing },
    ledger: {
      deps: {
        overLimit: async () => undefined,
        records: { create: async (record: ElasticIP) => void written.push(record) },
      },
    },
    vendor: {
      policy: {
        loadBalancing: true,
        locationSources: [{ kind: 'setting', name: 'METAL_METRO_NAME', word: 'metro', value: setting }],
      },
    },
    locations: { current: () => cloud.locations },
    want: () => ({ kind: 'nothing' }),
    settings: { cluster: { warmPool: 1, unboundGraceMs: 900_000 } },
    log: silentLog,
  } as unknown as Deps
  const { reconciler } = warmPoolController(deps)
  const addedIn = () => written.map(({ spec }) => spec.location)
  return { cloud, addedIn, look: () => reconciler.reconcile(warmPoolKey, signal) }
}

test('nothing is bought before the name of a location is known, and then under its code', async () => {
  const { cloud, addedIn, look } = makePool('DA')
  assert.equal([await look(), addedIn()], [{ againInMs: 1_000 }, []])
  cloud.locations = [{ kind: 'metro', code: 'da', name: 'Dallas' }]
  assert.equal([await look(), addedIn()], [{}, ['da']])
})

test('a cloud that lists no location of a kind accepts its codes', async () => {
  const { cloud, addedIn, look } = makePool('da')
  cloud.locations = []
  await look()
  assert.equal(addedIn(), ['da'])
})

test.run()
