import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { announcerOf } from '../../announcers/announcers.ts'
import { makeControllers } from '../../controllers/controllers.ts'
import { peeringControllers } from '../../controllers/peering/declaration.ts'
import { serviceControllers } from '../../controllers/services/declaration.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { makeDependencies } from '../../server/dependencies.ts'
import type { Node } from '../../kube/objects.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { makeService } from '../builders.ts'
import { type Respond, withServer } from '../kube/scripted-server.ts'
import { baseWith, kubeconfigs, quietServer } from '../server/quiet-server.ts'
import { eventually } from '../whole/eventually.ts'

const kubeconfig = kubeconfigs()
const { cloud, project, token } = await dialects['cherry-servers'].open()

/** Dependencies of the controllers of a process, with the simulated cloud and a scripted API server. */
async function dependenciesAt(url: string, signal: AbortSignal) {
  const base = await baseWith({
    flags: { '--cloud-provider': 'cherryservers', '--kubeconfig': kubeconfig.for(url), '--base-url': cloud.url },
    env: { CHERRY_API_KEY: token, CHERRY_PROJECT_ID: project, CHERRY_LOAD_BALANCER: 'empty://' },
    signal,
  })
  const deps = makeDependencies({
    ...base,
    announcer: announcerOf(base.vendor.loadBalancer, base.vendor.announcerMarks),
    cluster: 'cluster-1',
    pathSecret: 'secret',
  })
  return { base, deps }
}

test('keys that wait for a worker show in the depth of their queue', () => {
  const quiet = quietServer({ services: ['web', 'api'].map((name) => makeService({ name })) })
  // No controller of Services begins before the records are known.
  const respond: Respond = (request, response) =>
    request.path.endsWith('/elasticips') ? undefined : quiet.respond(request, response)
  return withServer(respond, async ({ url }) => {
    const stop = new AbortController()
    const { signal } = stop
    const { base, deps } = await dependenciesAt(url, signal)
    const controllers = makeControllers(deps, {
      isLeader: () => true,
      writeMs: () => Infinity,
      replacedProgram: () => undefined,
    })
    const depth = async () => {
      const [, value] = /^workqueue_depth\{name="service-address"\} (\d+)$/m.exec(await base.metrics.text()) ?? []
      return value
    }
    assert.is(await depth(), '0')
    const running = controllers.run(signal)
    try {
      deps.caches.services.start(signal)
      const waiting = () => controllers.queues().find(({ name }) => name === 'service-address')?.length
      await eventually('both Services wait', (observe) => observe(waiting()) === 2 || undefined)
      assert.is(await depth(), '2')
    } finally {
      stop.abort()
      await running.catch(() => undefined)
    }
  })
})

test('an error of the provider holds the key of a release, whatever changes; a claim has waits of its own', () =>
  withServer(quietServer().respond, async ({ url }) => {
    const stop = new AbortController()
    const { deps } = await dependenciesAt(url, stop.signal)
    const declared = serviceControllers(deps, { announcing: undefined, assigning: undefined, writeMs: () => Infinity })
    stop.abort()
    const holding = declared.map(({ reconciler, holdsFailedCalls = false }) => `${reconciler.name} ${holdsFailedCalls}`)
    assert.equal(holding, [
      'service-address false',
      'service-claim false',
      'service-release true',
      'service-condition false',
    ])
  }))

test('a new list of locations wakes the Services that lack an address', () =>
  withServer(quietServer().respond, async ({ url }) => {
    const stop = new AbortController()
    const { deps } = await dependenciesAt(url, stop.signal)
    const listed = [
      makeService({ name: 'waits' }),
      makeService({ name: 'has', annotations: { [addressAnnotation]: '203.0.113.7' } }),
      makeService({ name: 'wants-none', type: 'ClusterIP' }),
    ]
    let change = () => {}
    const locations = { ...deps.locations, onChange: (listener: () => void) => void (change = listener) }
    const services = { ...deps.caches.services, list: () => listed }
    const [controller] = serviceControllers(
      { ...deps, locations, caches: { ...deps.caches, services } },
      { announcing: undefined, assigning: undefined, writeMs: () => Infinity },
    )
    stop.abort()
    const woken: string[] = []
    for (const subscribe of controller?.watches ?? []) subscribe((key) => void woken.push(key))
    change()
    assert.equal(woken, ['default/waits'])
  }))

for (const [what, stored, isComplete] of [
  ['begins with the stored peers', { data: { 'peers.json.gz': gzipSync('[]').toString('base64') } }, true],
  ['without stored peers waits until each node was reconciled', {}, false],
] as const)
  test(`a term ${what}`, () =>
    withServer(quietServer().respond, async ({ url }) => {
      const stop = new AbortController()
      const { deps } = await dependenciesAt(url, stop.signal)
      const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: {} }
      const nodes = { ...deps.caches.nodes, synced: () => Promise.resolve(), list: () => [node] }
      const client = { ...deps.client, get: () => Promise.resolve(stored as never) }
      const [controller] = peeringControllers({ ...deps, client, caches: { ...deps.caches, nodes } })
      await controller?.prepare?.(stop.signal)
      let isSynced = false
      void deps.peerFacts.synced(stop.signal).then(
        () => (isSynced = true),
        () => undefined,
      )
      await setImmediate()
      stop.abort()
      assert.is(isSynced, isComplete)
    }))

test.after(async () => {
  await cloud.close()
  kubeconfig.remove()
})

test.run()
