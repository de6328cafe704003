import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Secret, WebhookConfiguration } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { awaitPathSecret, segmentPatch, webhookPath } from '../../webhooks/webhook-path.ts'
import type { KubeClient } from '../../kube/client.ts'
import { apiServer } from '../fakes/api-server.ts'
import { fakeClock } from '../kube/fake-clock.ts'
import { recordedLog } from '../kube/recorded-log.ts'

const configuration = (...webhooks: object[]) =>
  ({
    metadata: { resourceVersion: '7' },
    webhooks: webhooks.map((clientConfig) => ({ clientConfig })),
  }) as unknown as WebhookConfiguration

test('the patch changes the first segment of paths and URLs, only if it differs', () => {
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

test('replicas that find no installed path make one, and use the same', async () => {
  const server = apiServer()
  const waiting = { namespace: 'eip-admission', log: recordedLog(), signal: AbortSignal.timeout(700) }
  const [first, second] = await Promise.all([1, 2].map(() => awaitPathSecret(server.client, waiting)))
  assert.is(first, second)
  assert.match(first ?? '', /^[0-9a-f]{32}$/)
  assert.equal(
    server.stored(secrets).map(({ metadata }) => metadata.name),
    ['eip-admission-webhook'],
  )
})

test('a Secret without a path is named, and stays as it is', async () => {
  const server = apiServer()
  const log = recordedLog()
  const metadata = { name: 'eip-admission-webhook', namespace: 'infra' }
  server.put<Secret>(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { other: btoa('kept') } })
  const waiting = { namespace: 'infra', log, signal: AbortSignal.timeout(700) }
  assert.is(await awaitPathSecret(server.client, waiting).catch((error: Error) => error.name), 'TimeoutError')
  assert.match(JSON.stringify(log.lines), /Secret infra\/eip-admission-webhook has no key path: delete the Secret/)
  assert.equal(server.stored<Secret>(secrets)[0]?.data, { other: btoa('kept') })
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
  const options = { client: { ...server.client, get }, log, namespace: 'eip-admission', segment: 'a', clock }
  const path = webhookPath({ ...options, mayConfigure: () => false })
  set('a')
  return { clock, log, path, set, world }
}

test('a path that a person changes is known as soon as it is used; the previous one is accepted for a minute', async () => {
  const { clock, path, set } = following()
  set('b')
  assert.equal(path.accepted(), ['a'])
  await path.readAgain()
  await clock.pass(59_999)
  assert.equal(path.accepted(), ['b', 'a'])
  await clock.pass(1)
  assert.equal(path.accepted(), ['b'])
})

test('however many callers guess, the Secret is read at most once per second, even while it is unreadable', async () => {
  const { clock, log, path, world } = following()
  const guess = () => Promise.all(Array.from({ length: 50 }, () => path.readAgain()))
  await guess()
  await guess()
  assert.is(world.reads, 1)
  world.isDown = true
  await clock.pass(1_001)
  await guess()
  await guess()
  assert.equal([world.reads, log.lines.length, path.accepted()], [2, 1, ['a']])
})

test('the Secret is read every ten seconds and no more often, even while it is unreadable', async () => {
  const { clock, path, world } = following()
  const over = new AbortController()
  path.start(over.signal)
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
