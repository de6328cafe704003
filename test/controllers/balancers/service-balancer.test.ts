// The reconciler with the real client and the simulated service; only the API server is in memory.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetalBalancers } from '../../../clouds/equinix-metal/balancers/client.ts'
import { Secret } from '../../../lib/secret.ts'
import { balancerNames } from '../../../controllers/balancers/balancer-names.ts'
import { sights } from '../../../lib/sights.ts'
import { serviceBalancer } from '../../../controllers/balancers/service-balancer.ts'
import type { Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import type { ClusterState } from '../../../ledger/identity/heartbeats.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { startEquinixMetal } from '../../../sandbox/clouds/equinix-metal/server.ts'
import { makeService } from '../../builders.ts'
import { failureOf } from '../../clouds/scripted-server.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { annotations, worker } from './builders.ts'

const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
const key = 'default/web'
const createRoute = 'POST /lb/v1/projects/*/loadbalancers'
const request = 'eip-admission.dev/balancer-request'
const { signal } = new AbortController()

async function openWorld(service: Service = makeService({ ports: [{ port: 80, nodePort: 30_080 }] })) {
  const metal = await startEquinixMetal({
    projects: [{ id: project }],
    tokens: [{ token: 'key', projects: [project] }],
  })
  const urls = { baseUrl: `${metal.url}/lb`, tokensUrl: `${metal.url}/iam`, retryDelayMs: 1 }
  const balancers = equinixMetalBalancers({ apiKey: new Secret('key'), projectId: project, userAgent: 'test', ...urls })
  const api = apiServer()
  api.put(services, service)
  const at = { namespace: 'default', name: 'web' }
  const clock = { now: 0 }
  const stored = () => api.stored(services)[0]
  let wanted: Want = { kind: 'managed', location: 'da', warnings: [] }
  let state: ClusterState = { kind: 'ours' }
  const events: string[] = []
  const missed: number[] = []
  /** A process of its own: it remembers nothing of the others. */
  const process = (client = api.client) =>
    serviceBalancer({
      client,
      balancers,
      annotations,
      budgetMs: 1_500,
      monotonicMs: () => clock.now,
      event: (_service, { message }) => void events.push(message),
      onMissedByAdmission: () => void missed.push(clock.now),
      cached: stored,
      want: () => wanted,
      isOn: true,
      namesOf: () => balancerNames({ key, cluster: 'cluster-1', former: 'previous-name' }),
      nodes: () => ({ nodes: [worker] }),
      sights: sights(() => clock.now),
      requestMs: 2_000,
      clusterState: () => state,
    })
  return {
    metal,
    balancers,
    api,
    at,
    clock,
    events,
    missed,
    stored,
    process,
    annotation: (name: string) => stored()?.metadata.annotations?.[name],
    want: (other: Want) => void (wanted = other),
    halt: (reason: string) => void (state = { kind: 'foreign', reason }),
    count: () => [metal.control.balancers.all().length, metal.control.balancers.pools().length],
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

function inWorld(title: string, run: (world: World) => Promise<void>, service?: Service): void {
  test(title, async () => {
    const world = await openWorld(service)
    try {
      await run(world)
    } finally {
      await world.metal.close()
    }
  })
}

inWorld(
  'one reconcile serves a Service, and the next one writes nothing',
  async ({ process, stored, metal, api, count, events }) => {
    const one = process()
    assert.ok((await one.reconcile(key, signal)).steps)
    assert.is(stored()?.status?.loadBalancer?.ingress?.length, 1)
    assert.equal(count(), [1, 1])
    assert.is(events[0], 'Ensuring load balancer')
    metal.control.calls.clear()
    const writes = api.writes.length
    assert.equal(await one.reconcile(key, signal), {})
    assert.equal([api.writes.length, metal.control.calls.count('POST /lb/**')], [writes, 0])
  },
)

for (const [what, finalizers, count] of [
  ['that admission has missed is counted', [], 1],
  ['of a predecessor is not', ['service.kubernetes.io/load-balancer-cleanup'], 0],
] as const)
  inWorld(
    `a Service ${what}`,
    async ({ process, missed }) => {
      await process().reconcile(key, signal)
      assert.is(missed.length, count)
    },
    makeService({ finalizers: [...finalizers], ports: [{ port: 80, nodePort: 30_080 }] }),
  )

inWorld('processes that race create one balancer', async (world) => {
  const { process, count, metal } = world
  await Promise.allSettled(Array.from({ length: 5 }, () => process().reconcile(key, signal)))
  assert.is(metal.control.calls.count(createRoute), 1)
  await process().reconcile(key, signal)
  assert.equal(count(), [1, 1])
})

inWorld('a refusal ends the note, and the next look may create', async ({ process, metal, annotation, count }) => {
  metal.control.balancers.set({ limit: 0 })
  const error = await failureOf(process().reconcile(key, signal))
  assert.match(String(error), 'load balancer limit reached')
  assert.is(annotation(request), undefined)
  metal.control.balancers.set({ limit: 5 })
  await process().reconcile(key, signal)
  assert.equal(count(), [1, 1])
})

inWorld(
  'a create without an answer is not repeated before its time; another process finds what it did',
  async (world) => {
    const { process, metal, annotation, clock, count } = world
    metal.control.faults.add({ on: createRoute, answer: 500, times: 1 })
    const one = process()
    await failureOf(one.reconcile(key, signal))
    assert.ok(annotation(request))
    assert.equal(await one.reconcile(key, signal), { againInMs: 5_000 })
    clock.now = 1_999
    assert.equal(await one.reconcile(key, signal), { againInMs: 5_000 })
    assert.is(metal.control.calls.count(createRoute), 1)
    clock.now = 2_001
    metal.control.faults.add({ on: createRoute, answer: 'reset', done: true, times: 1 })
    await failureOf(one.reconcile(key, signal))
    assert.equal([annotation(annotations.id), count()[0]], [undefined, 1])
    await process().reconcile(key, signal)
    assert.equal([annotation(request), count()], [undefined, [1, 1]])
  },
)

inWorld('a process that was stopped between the note and the request sends nothing', async (world) => {
  const { process, api, clock, metal, annotation } = world
  const client: typeof api.client = {
    ...api.client,
    async patch(...call) {
      const patched = await api.client.patch(...call)
      if (patched.metadata.annotations?.[request] !== undefined) clock.now += 10_000
      return patched
    },
  }
  assert.match(String(await failureOf(process(client).reconcile(key, signal))), 'took too long to record')
  assert.is(metal.control.calls.count(createRoute), 0)
  assert.ok(annotation(request))
})

inWorld('a balancer that is listed and not found is neither created again nor given up', async (world) => {
  const { process, metal, count, annotation } = world
  await process().reconcile(key, signal)
  const id = annotation(annotations.id)
  metal.control.faults.add({ on: 'GET /lb/v1/loadbalancers/*', answer: 404, times: 1 })
  assert.equal(await process().reconcile(key, signal), { againInMs: 5_000 })
  assert.equal([annotation(annotations.id), count()], [id, [1, 1]])
})

inWorld('our second balancer goes with its pools, and the one that the Service shows stays', async (world) => {
  const { process, metal, balancers, annotation, stored, events } = world
  await process().reconcile(key, signal)
  const [first] = metal.control.balancers.all()
  const late = await balancers.create({ name: String(first?.['name']), location: 'da' }, signal)
  const pool = await balancers.addPool('from a late request', signal)
  await balancers.addPort(late, { name: 'port', number: 80, pool }, signal)
  await process().reconcile(key, signal)
  const ids = metal.control.balancers.all().map(({ id }) => id)
  assert.equal([ids, metal.control.balancers.pools().length], [[annotation(annotations.id)], 1])
  assert.equal(
    stored()?.status?.loadBalancer?.ingress?.map(({ ip }) => ip),
    first?.['ips'],
  )
  assert.ok(events.some((message) => message.startsWith(`Load balancer ${late} is deleted`)))
})

inWorld('a pool of another cluster in the project stays, and its origins are not read', async (world) => {
  const { process, metal, balancers, count, api, at } = world
  await process().reconcile(key, signal)
  await balancers.addPool('of another cluster', signal)
  metal.control.calls.clear()
  await process().reconcile(key, signal)
  assert.is(metal.control.calls.count('GET /lb/v1/loadbalancers/pools/*/origins'), 1)
  await api.client.remove(services, at)
  await process().reconcile(key, signal)
  assert.equal(count(), [0, 1])
})

inWorld(
  'a list that cannot be read deletes nothing and creates nothing',
  async ({ process, metal, count, api, at }) => {
    await process().reconcile(key, signal)
    metal.control.faults.add({ on: 'GET /lb/v1/projects/*/loadbalancers', answer: 404 })
    await failureOf(process().reconcile(key, signal))
    await api.client.remove(services, at)
    await failureOf(process().reconcile(key, signal))
    assert.equal(count(), [1, 1])
  },
)

inWorld(
  'a deleted Service goes when its balancer no longer exists',
  async ({ process, count, api, at, stored, events }) => {
    await process().reconcile(key, signal)
    await api.client.remove(services, at)
    await process().reconcile(key, signal)
    assert.equal([stored(), count()], [undefined, [0, 0]])
    assert.equal(events.slice(-2), ['Deleting load balancer', 'Deleted load balancer'])
  },
)

const upstream = 'service.kubernetes.io/load-balancer-cleanup'
for (const [what, more, kept] of [
  ['is a ClusterIP now', { type: 'ClusterIP' }, []],
  ['is still a LoadBalancer', {}, [upstream]],
  ['has the class of another program', { loadBalancerClass: 'example.com/other' }, [upstream]],
] as const)
  inWorld(
    `a Service that wants no balancer and ${what} ${kept.length > 0 ? 'keeps' : 'loses'} the upstream finalizer`,
    async ({ process, api, at, stored, want, count }) => {
      await process().reconcile(key, signal)
      await api.client.patch(services, { ...at, patch: { merge: { spec: more } } })
      want({ kind: 'nothing', reason: '' })
      await process().reconcile(key, signal)
      assert.equal([stored()?.metadata.finalizers, count()], [kept, [0, 0]])
    },
    makeService({ finalizers: [upstream], ports: [{ port: 80, nodePort: 30_080 }] }),
  )

inWorld(
  'while another cluster has the id of this cluster, nothing is changed',
  async ({ process, halt, metal, count, api, at }) => {
    await process().reconcile(key, signal)
    halt('another cluster uses our id')
    await api.client.remove(services, at)
    metal.control.calls.clear()
    assert.match(String(await failureOf(process().reconcile(key, signal))), 'another cluster uses our id')
    assert.equal([metal.control.calls.all(), count()], [[], [1, 1]])
  },
)

inWorld(
  'a Service without a balancer that wants none costs no call',
  async ({ process, metal, want }) => {
    want({ kind: 'nothing', reason: '' })
    assert.equal(await process().reconcile(key, signal), {})
    assert.equal(metal.control.calls.all(), [])
  },
  makeService({ type: 'ClusterIP' }),
)

for (const id of ['../../v1/projects', 'pools', 'a b', '.', 'x'.repeat(300)]) {
  inWorld(
    `an id that is none (${id.slice(0, 20)}) reaches no other object, and the Service gets its own balancer`,
    async ({ process, count, annotation }) => {
      await process().reconcile(key, signal)
      assert.match(annotation(annotations.id) ?? '', /^loadbal-/)
      assert.equal(count(), [1, 1])
    },
    makeService({ ports: [{ port: 80, nodePort: 30_080 }], annotations: { [annotations.id]: id } }),
  )
}

test.run()
