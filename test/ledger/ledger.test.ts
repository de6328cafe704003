// The ledger as a process wires it by its settings. Other tests of the ledger have the wiring of harness.ts.
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { configMaps, services } from '../../kube/resource.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import { makeLedger } from '../../ledger/ledger.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { want } from '../../ledger/want/want.ts'
import { makeMetrics } from '../../telemetry/metrics/metrics.ts'
import { makePolicy, makeRecord, makeReservation, makeService, metros } from '../builders.ts'
import { apiServer } from '../fakes/api-server.ts'
import { type Hooks, interposed } from '../fakes/interposed.ts'
import { silentLog } from '../fakes/log.ts'
import { scriptedCloud } from '../fakes/scripted-cloud.ts'

const { signal } = new AbortController()
const policy = makePolicy({ metro: 'da' })
const cloudTimeoutMs = 20_000
const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const

type Options = {
  kube?: Hooks
  cloud?: Hooks
  maxAddresses?: number
  /** The content of the cache of records, if it lags behind. */
  cached?: ElasticIP[]
}

/** A cluster and its project, and the ledgers of its processes. */
function makeCluster() {
  const api = apiServer()
  const cloud = scriptedCloud()
  return {
    api,
    cloud,
    ledger: async (identity: string, { kube = {}, cloud: hooks = {}, maxAddresses, cached }: Options = {}) => {
      const ledger = makeLedger({
        client: interposed(api.client, kube),
        vendor: {
          cloud: interposed(cloud.cloud, hooks),
          project: { id: 'project-1', setting: 'METAL_PROJECT_ID' },
          marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
          policy,
        },
        cluster: 'cluster-1',
        identity,
        settings: {
          process: { namespace: 'eip-admission', leaderElect: false, leaseDurationMs: 15_000 },
          cluster: { cloudTimeoutMs, maxAddresses, sweepIntervalMs: 300_000, sweepUntagged: false },
        },
        events: { of: () => ({ record() {} }) },
        metrics: makeMetrics(),
        log: silentLog,
        want: (service: Service) => want(service, policy, metros),
        caches: {
          services: { list: () => api.stored(services) },
          records: {
            list: () => cached ?? api.stored(elasticIPs),
            hasReached: () => Promise.resolve(cached === undefined),
          },
        },
        users: () => [],
        clusterNetwork: () => undefined,
      } as unknown as Parameters<typeof makeLedger>[0])
      await ledger.project.check(signal)
      return ledger
    },
  }
}

const claimOf = (key: string): Claim => ({
  key,
  location: 'da',
  reclaim: 'Delete',
  family: 'ipv4',
  isShown: false,
  wait: false,
})

test("while another process's request may still reach the provider, no process sends a second one", async () => {
  const time = { ms: 1_000 }
  const clock = mock.method(performance, 'now', () => time.ms)
  try {
    const { cloud, ledger } = makeCluster()
    const sent = Promise.withResolvers<void>()
    const arrives = Promise.withResolvers<void>()
    const slow = {
      async before({ verb }: { verb: string }) {
        if (verb !== 'reserve') return
        sent.resolve()
        await arrives.promise
      },
    }
    const [one, other] = [await ledger('one', { cloud: slow }), await ledger('other')]
    const limit = one.timeLimit()
    const running = one.claims.claim(claimOf('default/web'), signal)
    await sent.promise
    const tryAgain = async () => (await other.claims.claim(claimOf('default/web'), signal)).kind
    assert.is(await tryAgain(), 'busy')
    const begunMs = time.ms
    // A claim sends nothing from then on, and what it has sent may take half a call longer.
    for (const [ms, isOver] of [
      [1.5 * cloudTimeoutMs - 1, false],
      [1.5 * cloudTimeoutMs, true],
      [2 * cloudTimeoutMs - 1, true],
    ] as const) {
      time.ms = begunMs + ms
      assert.equal([limit.isOver(), await tryAgain(), cloud.calls.reserve], [isOver, 'busy', 0])
    }
    time.ms = begunMs + 2 * cloudTimeoutMs
    assert.equal([await tryAgain(), cloud.calls.reserve], ['held', 1])
    // The first request arrives at last, and buys nothing here.
    cloud.otherwise = 'invalid'
    arrives.resolve()
    await running
  } finally {
    clock.mock.restore()
  }
})

test('a stopped copy reserves nothing when its ConfigMap is deleted, or created again', async () => {
  const time = { ms: 1_000 }
  const clock = mock.method(performance, 'now', () => time.ms)
  try {
    const { api, cloud, ledger } = makeCluster()
    // Reservations of the original after the backup, for a Service that the copy does not have yet.
    cloud.put(makeReservation({ marks: serviceMarks(scheme, 'default/web') }))
    const at = { namespace: 'eip-admission', name: 'eip-admission-ledger' }
    const data = { cluster: 'cluster-1', project: 'project-1', 'foreign-sign': 'theirs.300', 'foreign-alive': 'true' }
    api.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data })
    const { claims, project } = await ledger('one')
    const answer = async () => {
      time.ms += 2_000
      const claimed = await claims.claim(claimOf('default/web'), signal)
      return claimed.kind === 'pending' ? claimed.reason : claimed.kind
    }
    assert.match(await answer(), /another cluster uses the cluster id/)
    api.drop(configMaps, at)
    assert.match(await answer(), /another cluster uses .*confirm-cluster=theirs.300/)
    await project.check(signal)
    assert.equal(api.stored(configMaps)[0]?.data, data)
    assert.match(await answer(), /another cluster uses/)
    assert.equal([api.stored(elasticIPs), cloud.calls.reserve], [[], 0])
  } finally {
    clock.mock.restore()
  }
})

const record = makeRecord(
  { phase: 'Bound', address: '203.0.113.40', reservationID: 'res-1' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } },
)
const cases: [name: string, service: Service | undefined, isKept: boolean][] = [
  ['that was created again', makeService({ uid: 'uid-2' }), true],
  ['that has a mistake', makeService({ annotations: { 'metal.equinix.com/eip-metro': 'xx' } }), true],
  ['that no longer exists', undefined, false],
  ['that is being deleted', makeService({ deletionTimestamp: 'now', finalizers: ['example.com/theirs'] }), false],
  ['that has another type', makeService({ type: 'ClusterIP' }), false],
]
for (const [name, service, isKept] of cases)
  test(`the last look before a release ${isKept ? 'keeps' : 'does not keep'} the address of a Service ${name}`, async () => {
    const { api, cloud, ledger } = makeCluster()
    const stored = api.put(elasticIPs, record)
    if (service) api.put(services, service)
    const { releaseWith } = await ledger('one')
    // No sweep of this process has looked yet who else uses the id of the cluster.
    assert.is(await releaseWith(undefined)({ record: stored }, signal), isKept ? 'kept' : 'unchecked')
    assert.is(api.stored(elasticIPs)[0]?.status?.phase, isKept ? 'Bound' : 'Releasing')
    assert.is(cloud.calls.release, 0)
  })

test('--max-addresses holds if the cache of the records is stale', async () => {
  const { cloud, ledger } = makeCluster()
  const lagging = await ledger('one', { maxAddresses: 2, cached: [] })
  const answers = []
  for (const name of ['a', 'b', 'c']) answers.push(await lagging.claims.claim(claimOf(`default/${name}`), signal))
  assert.equal(
    answers.map(({ kind }) => kind),
    ['held', 'held', 'refused'],
  )
  assert.match(JSON.stringify(answers[2]), 'the limit of 2 addresses in the cluster is reached (--max-addresses)')
  assert.is(cloud.calls.reserve, 2)
})

test('--max-addresses costs no list if the cache of the records is current', async () => {
  const { cloud, ledger } = makeCluster()
  const lists: unknown[] = []
  const kube = {
    before: ({ verb, values }: { verb: string; values: unknown[] }) => void (verb === 'list' && lists.push(values[0])),
  }
  const current = await ledger('one', { maxAddresses: 1, kube })
  lists.length = 0
  const answers = []
  for (const name of ['a', 'b']) answers.push((await current.claims.claim(claimOf(`default/${name}`), signal)).kind)
  assert.equal([answers, cloud.calls.reserve, lists], [['held', 'refused'], 1, []])
})

test.run()
