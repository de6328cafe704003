import type { ServerResponse } from 'node:http'
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type KubeError, isGone } from '../../kube/errors.ts'
import { services } from '../../kube/resource.ts'
import type { WatchOptions } from '../../kube/watch.ts'
import { type Respond, clientFor, errorOf, sendStatus, until, withServer } from './scripted-server.ts'

const forever = new AbortController().signal

function event(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`
}

function service(name: string): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name, resourceVersion: '2' } }
}

/** All events of a watch until it ends. */
async function received(
  server: { url: string },
  options: Partial<WatchOptions> = {},
  signal = forever,
): Promise<string[]> {
  const seen = []
  for await (const one of clientFor(server).watch(services, { resourceVersion: '1', ...options }, signal))
    seen.push(one.type === 'BOOKMARK' ? one.type : `${one.type} ${one.object.metadata.name}`)
  return seen
}

function streamed(...parts: string[]): Respond {
  return async (_, response) => {
    for (const part of parts) await send(response, part)
    response.end()
  }
}

function send(response: ServerResponse, part: string): Promise<void> {
  return new Promise((resolve) => response.write(part, () => setTimeout(resolve, 5)))
}

test('a watch requests bookmarks and a time-out', () =>
  withServer(streamed(), async (server) => {
    const selection = { namespace: 'default', labelSelector: 'a=b', fieldSelector: 'metadata.name=x' }
    await received(server, { ...selection, resourceVersion: '17' })
    assert.is(server.requests[0]?.path, '/api/v1/namespaces/default/services')
    assert.equal(server.requests[0]?.query, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '17',
      timeoutSeconds: '290',
      labelSelector: 'a=b',
      fieldSelector: 'metadata.name=x',
    })
  }))

test('events arrive in order, however the network splits them', () => {
  const whole = event('ADDED', service('größe')) + event('MODIFIED', service('b')) + event('DELETED', service('c'))
  const bytes = Buffer.from(whole)
  const cuts = [3, bytes.indexOf('ö') + 1, bytes.length - 1]
  const parts = cuts.map((cut, i) => bytes.subarray(cuts[i - 1] ?? 0, cut)).concat(bytes.subarray(cuts.at(-1)))
  return withServer(
    async (_, response) => {
      for (const part of parts) await send(response, part as unknown as string)
      response.end(event('BOOKMARK', { metadata: { resourceVersion: '9' } }))
    },
    async (server) => {
      assert.equal(await received(server), ['ADDED größe', 'MODIFIED b', 'DELETED c', 'BOOKMARK'])
    },
  )
})

const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }

const broken: { name: string; respond: Respond; words: RegExp; isGone?: boolean }[] = [
  {
    name: 'an expired version, by an ERROR event',
    respond: streamed(event('ERROR', gone)),
    words: /^watch Service: too old resource version \(410 Expired\)$/,
    isGone: true,
  },
  {
    name: 'an expired version, by the HTTP status',
    respond: (_, response) => sendStatus(response, 410, { reason: 'Gone', message: 'too old' }),
    words: /^watch Service: too old \(410 Gone\)$/,
    isGone: true,
  },
  {
    name: 'another ERROR event',
    respond: streamed(event('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' })),
    words: /^watch Service: etcd \(500 InternalError\)$/,
  },
  { name: 'a garbage line', respond: streamed('{"type":"ADD\n'), words: /^watch Service: a line that is not JSON$/ },
  { name: 'a line that is no event', respond: streamed('null\n'), words: /^watch Service: an event of no known type$/ },
  {
    name: 'half a line',
    respond: streamed('{"type":"ADDED"'),
    words: /^watch Service: it ended in the middle of an event$/,
  },
  {
    name: 'a reset',
    respond: async (_, response) => {
      await send(response, event('ADDED', service('a')))
      response.socket?.resetAndDestroy()
    },
    words: /^watch Service: no answer from the API server: (aborted|read ECONNRESET)$/,
  },
]

for (const { name, respond, words, ...expected } of broken) {
  test(`a watch ends with an error at ${name}`, () =>
    withServer(respond, async (server) => {
      const error = await errorOf(received(server))
      assert.match(error.message, words)
      assert.is(isGone(error), expected.isGone ?? false)
    }))
}

test('a watch without an event or a bookmark for 150 s is closed, long before the server should end it', async () => {
  const bookmark = event('BOOKMARK', { metadata: { resourceVersion: '2' } })
  const began = Promise.withResolvers<ServerResponse>()
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    await withServer(
      (_, response) => {
        response.writeHead(200).write(bookmark)
        began.resolve(response)
      },
      async (server) => {
        const watch = clientFor(server).watch(services, { resourceVersion: '1' }, forever)
        await watch.next()
        for (const silentMs of [149_000, 149_000]) {
          mock.timers.tick(silentMs)
          const next = watch.next()
          ;(await began.promise).write(bookmark)
          assert.is((await next).value?.type, 'BOOKMARK')
        }
        const ended = errorOf(watch.next())
        mock.timers.tick(150_001)
        assert.is((await ended).message, 'watch Service: the API server has gone silent')
      },
    )
  } finally {
    mock.timers.reset()
  }
})

test('a watch that says nothing is closed', () =>
  withServer(
    (_, response) => void response.writeHead(200).write(event('ADDED', service('a'))),
    async (server) => {
      const error = (await errorOf(received(server, { silenceMs: 40 }))) as KubeError
      assert.equal([error.reason, error.message], ['Timeout', 'watch Service: the API server has gone silent'])
      await until(() => server.connections.open === 0, 'the end of the connection')
    },
  ))

test('a watch whose answer does not begin is closed', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    await withServer(
      (_, response) => asked.resolve(response),
      async (server) => {
        const ended = errorOf(received(server))
        const response = await asked.promise
        mock.timers.tick(30_000)
        // A request that still waits gets another error.
        response.destroy()
        assert.is((await ended).message, 'watch Service: the API server has gone silent')
      },
    )
  } finally {
    mock.timers.reset()
  }
})

test('an abort ends a watch without an error, and closes its connection', () =>
  withServer(
    (_, response) => void response.writeHead(200).write(event('ADDED', service('a'))),
    async (server) => {
      const stop = new AbortController()
      const seen: string[] = []
      for await (const { type } of clientFor(server).watch(services, { resourceVersion: '1' }, stop.signal)) {
        seen.push(type)
        setTimeout(() => stop.abort(), 10)
      }
      assert.equal(seen, ['ADDED'])
      await until(() => server.connections.open === 0, 'the end of the connection')
      assert.equal(await received(server, {}, stop.signal), [])
      assert.is(server.requests.length, 1)
    },
  ))

test('a caller that stops reading closes the connection', () =>
  withServer(
    (_, response) => void response.writeHead(200).write(event('ADDED', service('a'))),
    async (server) => {
      for await (const one of clientFor(server).watch(services, { resourceVersion: '1' }, forever)) {
        assert.is(one.type, 'ADDED')
        break
      }
      await until(() => server.connections.open === 0, 'the end of the connection')
    },
  ))

test('each watch has a connection of its own', () =>
  withServer(
    (_, response) => void response.writeHead(200).write(event('ADDED', service('a'))),
    async (server) => {
      const stop = new AbortController()
      const client = clientFor(server)
      const drain = async () => {
        for await (const one of client.watch(services, { resourceVersion: '1' }, stop.signal)) assert.ok(one)
      }
      const watches = [drain(), drain(), drain()]
      await until(() => server.connections.open === 3, 'three connections')
      stop.abort()
      await Promise.all(watches)
      await until(() => server.connections.open === 0, 'the end of the connections')
    },
  ))

test.run()
