import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Secret, WebhookConfiguration } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { awaitPathSegments, segmentsOf, withSegments } from '../../webhooks/paths/path-secret.ts'
import { type PathSegments, planSegments, segmentPatch } from '../../webhooks/paths/rotation.ts'
import { webhookPaths } from '../../webhooks/paths/webhook-paths.ts'
import type { KubeClient } from '../../kube/client.ts'
import { apiServer } from '../fakes/api-server.ts'
import { fakeClock } from '../kube/fake-clock.ts'
import { recordedLog } from '../kube/recorded-log.ts'

const pace = { checkMs: 1, rotateAfterMs: 1000, publishMs: 100, retireAfterMs: 200 }
const resting = { current: 'a', next: undefined, previous: undefined, sinceMs: 0 }
const published = { ...resting, next: 'b' }
const switched = { ...resting, current: 'b', previous: 'a' }

const steps: {
  name: string
  from: PathSegments
  nowMs: number
  areConfigured?: boolean
  to?: Partial<PathSegments>
}[] = [
  { name: 'a segment rests until its time is over', from: resting, nowMs: 999 },
  { name: 'then the next one is published', from: resting, nowMs: 1000, to: { current: 'a', next: 'new' } },
  { name: 'the next one is not used before every replica knows it', from: published, nowMs: 99 },
  { name: 'then it is', from: published, nowMs: 100, to: { current: 'b', next: undefined, previous: 'a' } },
  { name: 'the previous one is accepted for a while', from: switched, nowMs: 199 },
  { name: 'then it is dropped', from: switched, nowMs: 200, to: { current: 'b', previous: undefined } },
  { name: 'but not while a configuration has another one', from: switched, nowMs: 5000, areConfigured: false },
]

for (const { name, from, nowMs, areConfigured = true, to } of steps)
  test(name, () => {
    const after = planSegments(from, { nowMs, pace, areConfigured, newSegment: () => 'new' })
    assert.equal(after, to && { ...from, ...to, sinceMs: nowMs })
  })

test('the Secret keeps the segments, and what else is in it', () => {
  const stored: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', creationTimestamp: '2026-01-01T00:00:00Z' },
    data: { path: btoa('a'), other: btoa('kept') },
  }
  assert.equal(segmentsOf(stored), { ...resting, sinceMs: Date.UTC(2026) })
  assert.is(segmentsOf({ ...stored, data: {} }), undefined)
  for (const segments of [resting, published, switched]) {
    const after = withSegments(withSegments(stored, published), segments)
    assert.equal(segmentsOf(after), segments)
    assert.is(after.data?.['other'], btoa('kept'))
  }
})

const configuration = (...webhooks: object[]) =>
  ({
    metadata: { resourceVersion: '7' },
    webhooks: webhooks.map((clientConfig) => ({ clientConfig })),
  }) as unknown as WebhookConfiguration

test('the patch changes the first segment of paths and URLs, and only where it is another one', () => {
  const service = (path: string) => ({ service: { namespace: 'n', name: 's', path } })
  const stored = configuration(service('/a/w'), service('/b/w'), { url: 'https://[::1]:9443/a/w/x?timeout=1s' })
  assert.equal(segmentPatch(stored, 'b'), [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'replace', path: '/webhooks/0/clientConfig/service/path', value: '/b/w' },
    { op: 'replace', path: '/webhooks/2/clientConfig/url', value: 'https://[::1]:9443/b/w/x?timeout=1s' },
  ])
  assert.equal(segmentPatch(configuration(service('/b/w')), 'b'), [])
  assert.equal(segmentPatch(undefined, 'b'), [])
})

const waiting = () => ({ namespace: 'eip-admission', log: recordedLog(), signal: AbortSignal.timeout(700) })

test('replicas that find no installed path make one, and use the same', async () => {
  const server = apiServer()
  const replica = () => awaitPathSegments(server.client, { ...waiting(), mayMake: true })
  const [first, second] = await Promise.all([replica(), replica()])
  assert.is(first.current, second.current)
  assert.match(first.current, /^[0-9a-f]{32}$/)
  assert.equal(
    server.stored(secrets).map(({ metadata }) => metadata.name),
    ['eip-admission-webhook'],
  )
})

test('where an installer owns the paths, a replica waits for them', async () => {
  const server = apiServer()
  const options = { ...waiting(), namespace: 'infra' }
  const end = await awaitPathSegments(server.client, { ...options, mayMake: false }).catch((error: Error) => error.name)
  assert.is(end, 'TimeoutError')
  assert.match(
    JSON.stringify(options.log.lines),
    /does not exist: run eip-admission install with --namespace=infra, or helm upgrade/,
  )
  assert.equal(server.stored(secrets), [])
})

/** A replica that knows segment `a`, and the Secret, which may have another one by now. */
function following() {
  const server = apiServer()
  const clock = fakeClock()
  const log = recordedLog()
  const metadata = { name: 'eip-admission-webhook', namespace: 'eip-admission' }
  const set = (path: string) =>
    server.put<Secret>(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { path: btoa(path) } })
  const world = { reads: 0, isDown: false }
  const get: KubeClient['get'] = (...read) => {
    world.reads += 1
    return world.isDown ? Promise.reject(new Error('no answer')) : server.client.get(...read)
  }
  const options = { client: { ...server.client, get }, log, namespace: 'eip-admission', segments: resting, clock }
  const paths = webhookPaths({ ...options, pace: { ...pace, checkMs: 10_000 }, mayRotate: () => false })
  set('a')
  return { clock, log, paths, set, world }
}

test('a path that a person changes is known as soon as it is asked for; the former one is accepted for one more look', async () => {
  const { clock, paths, set } = following()
  set('b')
  assert.equal(paths.accepted(), ['a'])
  await paths.readAgain()
  assert.equal(paths.accepted(), ['b', 'a'])
  await clock.pass(10_000)
  assert.equal(paths.accepted(), ['b'])
})

test('however many guess, the Secret is read once in a second, also while it cannot be', async () => {
  const { clock, log, paths, world } = following()
  const guess = () => Promise.all(Array.from({ length: 50 }, () => paths.readAgain()))
  await guess()
  await guess()
  assert.is(world.reads, 1)
  world.isDown = true
  await clock.pass(1_001)
  await guess()
  await guess()
  assert.equal([world.reads, log.lines.length, paths.accepted()], [2, 1, ['a']])
})

test('the Secret is read at the pace of the rotation, and not once more, also while it cannot be', async () => {
  const { clock, paths, world } = following()
  const over = new AbortController()
  paths.start(over.signal)
  await clock.pass(9_999)
  assert.is(world.reads, 0)
  for (const isDown of [false, true]) {
    world.isDown = isDown
    const before = world.reads
    await clock.pass(50_000)
    assert.is(world.reads - before, 5)
  }
  over.abort()
  await clock.pass(50_000)
  assert.is(world.reads, 10)
})

test.run()
