import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, Announcer, ObjectConfiguration } from '../../../announcers/announcer.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import { type IPAddressPool, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { announcingController, makeAnnouncing, problemReporter } from '../../../controllers/announcing/declaration.ts'
import { announcingKey } from '../../../controllers/announcing/announcing.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { ciliumResources } from '../../../announcers/cilium/resources.ts'
import { defineController } from '../../../controllers/loop/controller.ts'
import { type ConfigMap, type Service, keyOf } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import { serviceFinalizer } from '../../../ledger/record/names.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
import { noObserver } from '../../fakes/observer.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

const watched = ['services', 'records', 'peerFacts', 'ownAddresses'] as const
type SourceName = (typeof watched)[number] | 'nodes'

/** The controller runs; each of its sources can be known late, and can change. */
async function running({ late }: { late?: SourceName } = {}) {
  const looks: string[] = []
  const begins: number[] = []
  const known = Promise.withResolvers<void>()
  const listeners = new Map<SourceName, () => void>()
  const source = (name: SourceName) => ({
    onChange: (listener: () => void) => void listeners.set(name, listener),
    synced: () => (name === late ? known.promise : Promise.resolve()),
  })
  const [services, records, peerFacts, ownAddresses] = watched.map(source)
  const deps = { caches: { services, records, nodes: source('nodes') }, peerFacts, ownAddresses }
  const reconciler = {
    name: 'announcing',
    reconcile: async (key: string) => {
      looks.push(key)
      return {}
    },
    begin: () => void begins.push(looks.length),
    problemOf: () => undefined,
    findAnnouncement: () => Promise.resolve(undefined),
  }
  const declaration = announcingController(deps as unknown as Parameters<typeof announcingController>[0], reconciler)
  const clock = fakeClock()
  const controller = defineController(declaration, { log: silentLog, observer: noObserver, clock })
  let stop = new AbortController()
  let ended = Promise.resolve()
  const begin = async () => {
    stop = new AbortController()
    ended = controller.run(stop.signal)
    await clock.pass(0)
  }
  const end = () => {
    stop.abort()
    return ended
  }
  await begin()
  return {
    begin,
    begins,
    looks,
    clock,
    end,
    isKnown: known.resolve,
    change: (name: SourceName) => listeners.get(name)?.(),
  }
}

test('the configuration is looked at every minute, for a person may have deleted our pools or peers', async () => {
  const { looks, clock, end } = await running()
  assert.equal(looks, [announcingKey])
  await clock.pass(60_000)
  assert.equal(looks, [announcingKey, announcingKey])
  await end()
})

for (const late of ['services', 'records', 'nodes', 'peerFacts'] as const) {
  test(`nothing is withdrawn because ${late} are not known yet`, async () => {
    const { looks, clock, end, isKnown } = await running({ late })
    await clock.pass(60_000)
    assert.equal(looks, [])
    isKnown()
    await clock.pass(0)
    assert.equal(looks, [announcingKey])
    await end()
  })
}

test('each term of a leader begins again: another one may have written in between', async () => {
  const { begin, begins, end, looks } = await running()
  await end()
  await begin()
  assert.equal([looks.length, begins], [2, [0, 1]])
  await end()
})

for (const name of watched) {
  test(`a change of ${name} is taken up long before the minute is over`, async () => {
    const { looks, clock, end, change } = await running()
    change(name)
    await clock.pass(100)
    assert.equal(looks, [announcingKey, announcingKey])
    await end()
  })
}

const address = '203.0.113.40'
const reserve: Want = { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }
const own: Want = { kind: 'own', address, where: 'spec.loadBalancerIP' }
const foreign: Want = { kind: 'foreign', reason: 'its class is other', requested: [] }

/** The announcements of these Services, which have no records, and of node-a. */
async function stateOf(all: { service: Service; wanted: Want }[]): Promise<Announcements> {
  const seen: Announcements[] = []
  const configuration: ObjectConfiguration = {
    kind: 'objects',
    namespace: 'lb',
    kinds: [],
    from: 'a program of the test',
    isOurs: () => false,
    objects: (state) => (seen.push(state), { wanted: [], problems: [] }),
    reports: [],
    reportedProblems: () => [],
    announcing: configMaps,
    nameFor: () => undefined,
    hasAddress: () => false,
  }
  const services = all.map(({ service }) => service)
  const metadata = { name: 'node-a', annotations: { 'example.com/address': '10.0.0.5' }, labels: { rack: 'a' } }
  const deps = {
    announcer: { name: 'test', configuration },
    caches: {
      services: { list: () => services, get: (key: string) => services.find((one) => keyOf(one) === key) },
      records: new Map(),
      nodes: new Map([['node-a', { metadata }]]),
    },
    want: (asked: Service) => all.find(({ service }) => service === asked)?.wanted,
    peerFacts: { all: () => ['node-a', 'node-b'].map((node) => ({ node, hostname: node, peers: [] })) },
  }
  const reconciler = makeAnnouncing(deps as unknown as Parameters<typeof makeAnnouncing>[0])
  await reconciler?.reconcile(announcingKey, new AbortController().signal)
  const [state] = seen
  if (!state) throw new Error('the software is configured')
  return state
}

test('the software learns what is announced, and all by which it keeps the addresses of others', async () => {
  const shows = (name: string, ip: string, more: Parameters<typeof makeService>[0] = {}) =>
    makeService({ name, status: { loadBalancer: { ingress: [{ ip }] } }, ...more })
  const going = { deletionTimestamp: 'now', finalizers: [serviceFinalizer] }
  const { facts, nodes, hasNode, ...addresses } = await stateOf([
    { service: makeService({ loadBalancerIP: address, labels: { tier: 'gold' } }), wanted: own },
    { service: shows('found', '203.0.113.41'), wanted: reserve },
    { service: shows('gone', '203.0.113.42', going), wanted: own },
    { service: shows('theirs', '203.0.113.43', { loadBalancerClass: 'a.test/b' }), wanted: foreign },
  ])
  const of = (name: string, shown: string) => ({ address: shown, services: [`default/${name}`] })
  const [found, gone, theirs] = ['found', 'gone', 'theirs'].map((name, n) => of(name, `203.0.113.${41 + n}`))
  assert.equal(addresses, {
    addresses: [of('web', address)],
    undecided: [found, theirs],
    leaving: [gone],
    visible: [found, gone, theirs],
    foreign: [
      { service: 'default/found', loadBalancerClass: undefined },
      { service: 'default/theirs', loadBalancerClass: 'a.test/b' },
    ],
  })
  assert.equal(
    ['node-a', 'node-b'].map((name) => hasNode?.(name)),
    [true, false],
  )
  assert.equal(facts?.get('default/web'), { labels: { tier: 'gold' } })
  assert.equal(
    nodes.map(({ node, annotations, labels }) => [node, annotations, labels]),
    [
      ['node-a', { 'example.com/address': '10.0.0.5' }, { rack: 'a' }],
      ['node-b', undefined, undefined],
    ],
  )
})

test('a problem of the announcing software is counted, logged, and an Event on the object that causes it', async () => {
  const metrics = makeMetrics()
  const log = recordedLog()
  const events: string[] = []
  const report = problemReporter({
    announcer: { name: 'MetalLB' },
    events: {
      of: () => ({
        record: ({ metadata }: { metadata: { name: string } }, event: { reason: string; message: string }) =>
          void events.push(`${event.reason} ${metadata.name}: ${event.message}`),
      }),
    },
    caches: {
      services: { get: (key: string) => (key === 'default/web' ? makeService() : undefined) },
      nodes: { get: (name: string) => ({ metadata: { name } }) },
    },
    metrics,
    log,
  } as unknown as Parameters<typeof problemReporter>[0])
  const count = async () => /^eip_admission_announcer_problems_total (\S+)$/m.exec(await metrics.text())?.[1]
  assert.is(await count(), '0')
  report({ subject: { service: 'default/web' }, message: 'no pool' })
  report({ subject: { node: 'worker-1' }, message: 'no session' })
  report({ subject: { service: 'default/gone' }, message: 'no pool' })
  assert.is(await count(), '3')
  assert.equal(events, ['SyncLoadBalancerFailed web: MetalLB: no pool', 'PeeringFailed worker-1: MetalLB: no session'])
  assert.equal(
    log.lines.map(({ level, fields }) => `${level} ${String(fields.error)}`),
    ['warn no pool', 'warn no session', 'warn no pool'],
  )
})

const marks = { label: { name: 'example.com/by', value: 'us' }, advertisement: 'adv', counting: 'example.com' }

/** The announcements of these Services, which nobody manages. */
function makeReconciler({ services, ...of }: { announcer: Announcer; client: KubeClient; services: Service[] }) {
  const deps = {
    ...of,
    log: silentLog,
    caches: { services: { list: () => services, get: () => undefined }, records: new Map(), nodes: new Map() },
    want: () => ({ kind: 'ignored', reason: 'load balancing is off' }) satisfies Want,
    peerFacts: { all: () => [] },
  }
  const reconciler = makeAnnouncing(deps as unknown as Parameters<typeof makeAnnouncing>[0])
  if (!reconciler) throw new Error('there is something to configure')
  return reconciler
}

test('with load balancing off the pool of a deleted Service goes when its release asks, and that of a living one stays', async () => {
  const [living, gone] = ['203.0.113.41', '203.0.113.42']
  const api = apiServer()
  for (const one of [living, gone]) {
    api.put<IPAddressPool>(ipAddressPools, {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: {
        name: one,
        namespace: 'metallb-system',
        labels: { 'app.kubernetes.io/managed-by': 'eip-admission', 'example.com/by': 'us' },
      },
      spec: { addresses: [`${one}/32`], autoAssign: false },
    })
  }
  const shows = (name: string, ip: string, more: Parameters<typeof makeService>[0] = {}) =>
    makeService({ name, status: { loadBalancer: { ingress: [{ ip }] } }, ...more })
  // A person replaced the living one: nothing of it but its status says the address.
  const services = [
    shows('living', living),
    shows('gone', gone, { deletionTimestamp: 'now', finalizers: [serviceFinalizer] }),
  ]
  const { signal } = new AbortController()
  const reconciler = makeReconciler({ announcer: announcerOf({ kind: 'none' }, marks), client: api.client, services })
  const asked: string[] = []
  reconciler.watch?.((key) => asked.push(key))
  const pass = async () => {
    await reconciler.reconcile(announcingKey, signal)
    return api.everything().map(({ metadata }) => metadata.name)
  }
  assert.equal(await pass(), [living, gone])
  assert.equal(await reconciler.findAnnouncement(gone, signal), { services: [] })
  assert.equal(asked, [announcingKey])
  assert.equal(await pass(), [living])
  assert.is(await reconciler.findAnnouncement(gone, signal), undefined)
})

const settings = {
  'kube-vip': { kind: 'kube-vip' },
  MetalLB: { kind: 'metallb', namespace: 'metallb-system', name: 'config', peerMode: 'native' },
} as const
for (const [software, setting] of Object.entries(settings)) {
  test(`before ${software}: what a leader with the previous setting wrote again is emptied in the next term`, async () => {
    const api = apiServer()
    const put = () =>
      api.put(ciliumResources.pools, {
        apiVersion: 'cilium.io/v2',
        kind: 'CiliumLoadBalancerIPPool',
        metadata: { name: `eip-admission-${address}`, labels: { 'app.kubernetes.io/managed-by': 'eip-admission' } },
        spec: { blocks: [{ cidr: `${address}/32` }] },
      })
    const reconciler = makeReconciler({ announcer: announcerOf(setting, marks), client: api.client, services: [] })
    const pass = () => reconciler.reconcile(announcingKey, new AbortController().signal)
    for (let term = 1; term <= 2; term += 1) {
      put()
      reconciler.begin()
      for (let passes = 0; passes < 3; passes += 1) await pass()
      assert.equal(api.everything(), [], `term ${term}`)
    }
  })
}

for (const [software, setting, isEmptied] of [
  ['kube-vip', settings['kube-vip'], true],
  ['MetalLB by the same ConfigMap', { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'config' }, false],
] as const) {
  test(`before ${software}: our pool in MetalLB's ConfigMap ${isEmptied ? 'goes' : 'is written by one writer'}`, async () => {
    const api = apiServer()
    const pool = { name: 'default/web', protocol: 'bgp', addresses: [`${address}/32`], 'auto-assign': false }
    api.put<ConfigMap>(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'metallb-system', name: 'config' },
      data: { config: JSON.stringify({ 'address-pools': [pool] }) },
    })
    const reconciler = makeReconciler({ announcer: announcerOf(setting, marks), client: api.client, services: [] })
    reconciler.begin()
    for (let passes = 0; passes < 3; passes += 1)
      await reconciler.reconcile(announcingKey, new AbortController().signal)
    assert.is(api.stored<ConfigMap>(configMaps)[0]?.data?.['config']?.includes(address), false)
    assert.is(api.writes.length, 1)
  })
}

test.run()
