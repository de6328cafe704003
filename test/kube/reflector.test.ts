import type { ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Pace } from '../../kube/list-watch.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type ReflectorOptions, reflector } from '../../kube/reflector.ts'
import { services as resource } from '../../kube/resource.ts'
import { fakeClock } from './fake-clock.ts'
import { recordedLog } from './recorded-log.ts'
import {
  type ReceivedRequest,
  type ScriptedServer,
  sendJson,
  clientFor,
  errorOf,
  sendStatus,
  until,
  withServer,
} from './scripted-server.ts'

type Respond = (response: ServerResponse, requests: ReceivedRequest) => void

function service(name: string, version = '1', more: object = {}): Service {
  const metadata = { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: version, ...more }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: {} }
}

const list =
  (version: string, ...items: Service[]): Respond =>
  (response) =>
    sendJson(response, { metadata: { resourceVersion: version }, items })

const page =
  (token: string, ...items: Service[]): Respond =>
  (response) =>
    sendJson(response, { metadata: { resourceVersion: '1', continue: token }, items })

/** Sends events, then keeps the connection open. */
const open =
  (...events: [type: string, object: object][]): Respond =>
  (response) => {
    response.writeHead(200)
    response.flushHeaders()
    for (const [type, object] of events) response.write(`${JSON.stringify({ type, object })}\n`)
  }

/** Sends events, then closes the connection. */
const closed =
  (...events: [type: string, object: object][]): Respond =>
  (response, requests) => {
    open(...events)(response, requests)
    response.end()
  }

const failsWith =
  (status: number, fields: Parameters<typeof sendStatus>[2] = {}): Respond =>
  (response) =>
    sendStatus(response, status, fields)

const resets: Respond = (response) => response.socket?.resetAndDestroy()
const sendsLine =
  (line: string): Respond =>
  (response) =>
    void response.writeHead(200).end(line)
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
const bookmark = (resourceVersion: string): [string, object] => ['BOOKMARK', { metadata: { resourceVersion } }]

const quick: Partial<Pace> = { firstMs: 2, maxMs: 8, healthyMs: 600_000 }

type Run = {
  services: ReturnType<typeof reflector<Service>>
  server: ScriptedServer
  changes: string[]
  log: ReturnType<typeof recordedLog>
  stop: AbortController
}

/** Runs a reflector against a server with these responses in order; the last one repeats. */
async function withReflector(
  responses: Respond[],
  test: (run: Run) => Promise<void>,
  options: Partial<ReflectorOptions<Service>> = {},
) {
  const respond = (requests: ReceivedRequest, response: ServerResponse) =>
    (responses.length > 1 ? responses.shift() : responses[0])?.(response, requests)
  await withServer(respond, async (server) => {
    const log = recordedLog()
    const reflected = reflector({ client: clientFor(server), resource, log, pace: quick, ...options })
    const changes: string[] = []
    reflected.onChange((key, current, previous) =>
      changes.push(`${key} ${previous?.metadata.resourceVersion ?? '-'} > ${current?.metadata.resourceVersion ?? '-'}`),
    )
    const stop = new AbortController()
    reflected.start(stop.signal)
    try {
      await test({ services: reflected, server, changes, log, stop })
    } finally {
      stop.abort()
    }
  })
}

/** The requests in short: `list`, `list+token`, `watch@version`. */
function requestsInShort({ requests }: ScriptedServer): string[] {
  return requests.map(({ query }) => {
    if (query.watch) return `watch@${query.resourceVersion}`
    return query.continue ? `list+${query.continue}` : 'list'
  })
}

test('pages make one list, and the watch begins at its version', () =>
  withReflector(
    [page('next', service('a')), list('7', service('b')), open(['ADDED', service('c', '8')])],
    async (run) => {
      await run.services.synced()
      assert.equal(
        run.services.list().map(({ metadata }) => metadata.name),
        ['a', 'b'],
      )
      await until(() => run.services.get('default/c') !== undefined)
      assert.equal(run.changes, ['default/a - > 1', 'default/b - > 1', 'default/c - > 8'])
      assert.equal(requestsInShort(run.server), ['list', 'list+next', 'watch@7'])
      assert.is(run.server.requests[0]?.query.limit, '100')
    },
  ))

/** Far more than the client reads. */
const tooLarge: Respond = (response) => {
  response.on('error', () => {})
  response.writeHead(200)
  for (let i = 0; i < 40; i++) response.write(Buffer.alloc(2 ** 20, ' '))
}

test('a page that is too large is requested again with half the objects, from the same place', () =>
  withReflector(
    [tooLarge, page('next', service('a')), tooLarge, tooLarge, list('7', service('b')), open()],
    async (run) => {
      await run.services.synced()
      assert.is(run.services.list().length, 2)
      const asked = run.server.requests.slice(0, 5).map(({ query }) => [query.limit, query.continue])
      const after = 'next'
      assert.equal(asked, [
        ['100', undefined],
        ['50', undefined],
        ['50', after],
        ['25', after],
        ['12', after],
      ])
    },
  ))

test('a single object that is too large fails the list, which is then tried again', () =>
  withReflector(
    [tooLarge, tooLarge, list('7', service('b')), open()],
    async (run) => {
      await run.services.synced()
      assert.equal(
        run.server.requests.slice(0, 3).map(({ query }) => query.limit),
        ['2', '1', '2'],
      )
    },
    { pace: { ...quick, pageSize: 2 } },
  ))

test('a listener gets changes and deletions with the previous object', () =>
  withReflector(
    [list('1', service('a'), service('b')), open(['MODIFIED', service('a', '2')], ['DELETED', service('b', '3')])],
    async ({ services, changes }) => {
      await until(() => changes.length === 4)
      assert.equal(changes.slice(2), ['default/a 1 > 2', 'default/b 1 > -'])
      assert.is(services.get('default/b'), undefined)
    },
  ))

test('a reflector lists and watches only the selected objects', () =>
  withReflector(
    [list('1'), open()],
    async ({ server }) => {
      await until(() => server.requests.length === 2)
      for (const { path, query } of server.requests) {
        assert.is(path, '/api/v1/namespaces/eip/services')
        assert.equal([query.labelSelector, query.fieldSelector], ['l=1', 'f=2'])
      }
    },
    { namespace: 'eip', labelSelector: 'l=1', fieldSelector: 'f=2' },
  ))

test('objects from an earlier start are stale until the list of a new one', () =>
  withReflector(
    [list('1', service('a')), open(), list('5', service('b')), open()],
    async ({ services, server, stop }) => {
      await services.synced()
      await until(() => server.requests.length === 2)
      stop.abort()
      const again = new AbortController()
      services.start(again.signal)
      assert.not(services.hasSynced())
      await services.synced()
      assert.equal([services.get('default/a'), services.list().length], [undefined, 1])
      again.abort()
    },
  ))

test('the cache strips its objects, and callers cannot change them', () => {
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  const noisy = service('a', '1', { managedFields: [{}], annotations: { [lastApplied]: '{}', mine: 'x' } })
  return withReflector(
    [list('1', noisy), open(['ADDED', service('b', '2', { managedFields: [{}] })])],
    async ({ services }) => {
      await until(() => services.list().length === 2)
      const kept = services.get('default/a')
      assert.equal(kept?.metadata, service('a', '1', { annotations: { mine: 'x' } }).metadata)
      assert.is(kept?.spec, undefined)
      assert.equal(services.get('default/b')?.metadata, service('b', '2').metadata)
      assert.throws(() => delete kept?.metadata.uid, TypeError)
    },
    { strip: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) as Service },
  )
})

const disturbances: { name: string; responses: Respond[]; requests: string[] }[] = [
  {
    name: 'a watch that the server ends',
    responses: [list('1'), closed(), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'watch@1'],
  },
  {
    name: 'the end of a watch after a bookmark, from which the next watch begins',
    responses: [list('1'), closed(bookmark('5')), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'watch@5'],
  },
  {
    name: 'an expired version, by the HTTP status',
    responses: [list('1'), failsWith(410, { reason: 'Gone' }), list('4'), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'list', 'watch@4'],
  },
  {
    name: 'an expired version, by an ERROR event',
    responses: [list('1'), open(['ERROR', gone]), list('4'), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'list', 'watch@4'],
  },
  {
    name: 'an expired version again and again',
    responses: [list('1'), failsWith(410), list('2'), failsWith(410), list('3'), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'list', 'watch@2', 'list', 'watch@3'],
  },
  {
    name: 'a continue token that expires in the middle of a list',
    responses: [page('x', service('a')), failsWith(410, { reason: 'Expired' }), list('3', service('z', '9')), open()],
    requests: ['list', 'list+x', 'list', 'watch@3'],
  },
  {
    name: 'errors of the server',
    responses: [
      failsWith(500),
      failsWith(403),
      list('1'),
      failsWith(500),
      list('2'),
      open(['ADDED', service('z', '9')]),
    ],
    requests: ['list', 'list', 'list', 'watch@1', 'list', 'watch@2'],
  },
  {
    name: 'a token that gets 401',
    responses: [list('1'), failsWith(401), failsWith(401), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'resets, before and in a watch',
    responses: [
      list('1'),
      resets,
      (response) => void response.writeHead(200).write('', () => response.socket?.resetAndDestroy()),
      list('2'),
      open(['ADDED', service('z', '9')]),
    ],
    requests: ['list', 'watch@1', 'watch@1', 'list', 'watch@2'],
  },
  {
    name: 'half a line and a garbage line',
    responses: [list('1'), sendsLine('{"type":'), sendsLine('garbage\n'), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'an ERROR event without a Status',
    responses: [list('1'), sendsLine('{"type":"ERROR","object":{}}\n'), open(['ADDED', service('z', '9')])],
    requests: ['list', 'watch@1', 'watch@1'],
  },
]

for (const { name, responses, requests } of disturbances) {
  test(`a reflector survives ${name}`, () =>
    withReflector(responses, async ({ services, server }) => {
      await until(() => services.get('default/z') !== undefined)
      await until(() => server.requests.length === requests.length)
      assert.equal(requestsInShort(server), requests)
    }))
}

test('a silent watch is ended, and the next one begins with a list', () =>
  withReflector(
    [list('1'), open(bookmark('6')), list('7'), open(['ADDED', service('z', '9')])],
    async ({ services, server }) => {
      await until(() => services.get('default/z') !== undefined)
      assert.equal(requestsInShort(server).slice(0, 4), ['list', 'watch@1', 'list', 'watch@7'])
    },
    { pace: { ...quick, silenceMs: 40 } },
  ))

test('an API server that comes back with an older etcd is listed again', () =>
  withReflector(
    [list('90', service('lost')), resets, resets, list('9', service('z', '8')), open()],
    async ({ services, server }) => {
      await until(() => server.requests.length === 5)
      assert.equal(requestsInShort(server), ['list', 'watch@90', 'watch@90', 'list', 'watch@9'])
      assert.equal(
        services.list().map(({ metadata }) => metadata.name),
        ['z'],
      )
    },
  ))

test('so is one that first refuses what it does not know yet', () =>
  withReflector(
    [list('90', service('lost')), resets, failsWith(403), list('9', service('z', '8')), open()],
    async ({ services, server }) => {
      await until(() => server.requests.length === 5)
      assert.equal(requestsInShort(server), ['list', 'watch@90', 'watch@90', 'list', 'watch@9'])
      assert.is(services.get('default/lost'), undefined)
    },
  ))

test('deletions during an outage are reported after it', () =>
  withReflector(
    [
      list('1', service('stays'), service('goes'), service('changes'), service('is-made-again')),
      resets,
      failsWith(410),
      list('9', service('stays'), service('changes', '8'), service('is-made-again', '1', { uid: 'another' })),
      open(),
    ],
    async ({ services, changes, server }) => {
      await until(() => server.requests.length === 5)
      assert.equal(changes.slice(4), ['default/goes 1 > -', 'default/changes 1 > 8', 'default/is-made-again 1 > 1'])
      assert.equal(services.list().length, 3)
    },
  ))

test('while the server is down the waits grow, and from the second failure on a warning is logged', () =>
  withReflector(
    [failsWith(500)],
    async ({ log }) => {
      await until(() => log.lines.length >= 8)
      const waits = log.lines.map(({ fields }) => Number(fields.waitMs))
      const full = [8, 16, 32, 64, 64, 64, 64, 64]
      full.forEach((most, i) => assert.ok((waits[i] ?? 0) >= most / 2 && (waits[i] ?? 0) <= most, `${i}: ${waits[i]}`))
      assert.equal(
        log.lines.slice(0, 3).map(({ level }) => level),
        ['debug', 'warn', 'warn'],
      )
    },
    { pace: { firstMs: 8, maxMs: 64 } },
  ))

test('the first expired version after an outage is listed at once, the next one after a wait', () =>
  withReflector(
    [list('1'), resets, resets, failsWith(410), list('2'), failsWith(410), list('3'), open()],
    async ({ log, server }) => {
      await until(() => server.requests.length === 8)
      const waits = log.lines.flatMap(({ fields }) => ('waitMs' in fields ? [Number(fields.waitMs) > 0] : []))
      assert.equal(waits, [true, true, false, true])
    },
  ))

test('a reflector waits as long as Retry-After says', () =>
  withReflector([list('1'), failsWith(429, { headers: { 'retry-after': '1' } }), open()], async ({ log, server }) => {
    await until(() => log.lines.some(({ fields }) => fields.waitMs === 1_000))
    assert.is(server.requests.length, 2)
  }))

test('a reflector waits at most a minute, although a maintenance page asks for an hour', () =>
  withReflector([list('1'), failsWith(503, { headers: { 'retry-after': '3600' } }), open()], async ({ log }) => {
    await until(() => log.lines.some(({ fields }) => 'waitMs' in fields))
    assert.is(log.lines.find(({ fields }) => 'waitMs' in fields)?.fields.waitMs, 60_000)
  }))

test('a healthy watch resets the back-off, and no wait follows its normal end', () =>
  withReflector(
    [
      failsWith(500),
      failsWith(500),
      failsWith(500),
      list('1'),
      (response, requests) => {
        open()(response, requests)
        setTimeout(() => response.end(), 60)
      },
      open(),
    ],
    async ({ log, server }) => {
      await until(() => server.requests.length === 6)
      const ends = log.lines.filter(({ message }) => message !== 'listed')
      assert.equal(ends.at(-1)?.fields.waitMs, 0)
      assert.equal(
        ends.map(({ fields }) => fields.failures),
        [1, 2, 3, 0],
      )
    },
    { pace: { ...quick, healthyMs: 40 } },
  ))

test('after an abort nothing is logged, and no watch stays open', () =>
  withReflector(
    [list('1', service('a')), open(['ADDED', service('b', '2')])],
    async ({ services, server, log, stop }) => {
      await until(() => services.list().length === 2)
      stop.abort()
      // The kept connection of the list may stay; the one of the watch must not.
      await until(() => server.connections.open <= 1, 'the end of the watch')
      assert.is(server.requests.length, 2)
      assert.equal(
        log.lines.filter(({ level }) => level !== 'debug'),
        [],
      )
    },
  ))

test('many ended watches leave no connections open', () =>
  withReflector([list('1'), ...Array.from({ length: 30 }, () => closed()), open()], async ({ server }) => {
    await until(() => server.requests.length === 32)
    await until(() => server.connections.open <= 2, 'the end of the old watches')
    assert.is(server.connections.opened, 32)
  }))

test('synced resolves after the first list, and rejects when its signal aborts', () =>
  withReflector([failsWith(500), list('1'), open()], async ({ services }) => {
    assert.is(services.hasSynced(), false)
    await services.synced()
    assert.is(services.hasSynced(), true)
    const client = clientFor({ url: 'http://127.0.0.1:1' })
    const still = reflector({ client, resource, log: recordedLog() })
    assert.is((await errorOf(still.synced(AbortSignal.timeout(5)))).name, 'AbortError')
  }))

/** Answers when the test tells it to. */
function late(...items: Service[]): { respond: Respond; send: () => void } {
  let send = () => {}
  return {
    respond: (response, request) => void (send = () => list('9', ...items)(response, request)),
    send: () => send(),
  }
}

test('a refresh lists again although the watch says nothing; until then all stays, and synced waits', () => {
  const second = late(service('b'))
  return withReflector(
    [list('1', service('a')), open(), failsWith(500), second.respond, open(['ADDED', service('c', '10')])],
    async ({ services, server, changes }) => {
      await services.synced()
      await until(() => server.requests.length === 2)
      services.refresh(0)
      let hasSynced = false
      const synced = services.synced().then(() => (hasSynced = true))
      await until(() => server.requests.length === 4)
      assert.equal([services.list().length, services.hasSynced(), hasSynced], [1, true, false])
      second.send()
      await synced
      assert.equal([services.get('default/a'), services.list().length], [undefined, 1])
      await until(() => services.get('default/c') !== undefined)
      assert.equal(requestsInShort(server), ['list', 'watch@1', 'list', 'list', 'watch@9'])
      assert.equal(changes, ['default/a - > 1', 'default/a 1 > -', 'default/b - > 1', 'default/c - > 10'])
      await until(() => server.connections.open <= 2, 'the end of the silent watch')
    },
  )
})

for (const [what, pass, isAnew] of [
  ['less than two seconds after the last list began, a refresh lists nothing', 'pass', false],
  ['two seconds after the last list began, a refresh lists again', 'pass', true],
  ['after a suspend of two seconds, a refresh lists again', 'suspend', true],
] as const) {
  test(what, () => {
    const clock = fakeClock()
    return withReflector(
      [list('1'), open(), list('9', service('a')), open()],
      async ({ services, server }) => {
        await services.synced()
        await until(() => server.requests.length === 2)
        await clock[pass](isAnew ? 2_000 : 1_999)
        services.refresh(2_000)
        await services.synced()
        assert.is(services.list().length, isAnew ? 1 : 0)
        assert.is(requestsInShort(server).filter((one) => one === 'list').length, isAnew ? 2 : 1)
      },
      { clock },
    )
  })
}

for (const [what, passedMs, shown] of [
  ['a list that has just begun is awaited', 1_999, 'default/old'],
  ['a list that began long ago counts no more', 2_000, 'default/new'],
] as const) {
  test(`at a refresh ${what}`, () => {
    const clock = fakeClock()
    const first = late(service('old'))
    return withReflector(
      [first.respond, list('9', service('new')), open()],
      async ({ services, server }) => {
        await until(() => server.requests.length === 1)
        await clock.pass(passedMs)
        services.refresh(2_000)
        first.send()
        await services.synced()
        assert.equal(
          services.list().map((one) => keyOf(one)),
          [shown],
        )
      },
      { clock },
    )
  })
}

test('a refresh before the start, or after the end, sends nothing', () =>
  withReflector([list('1'), open()], async ({ services, server, stop }) => {
    const client = clientFor(server)
    const never = reflector({ client, resource, log: recordedLog() })
    never.refresh(0)
    await services.synced()
    await until(() => server.requests.length === 2)
    stop.abort()
    services.refresh(0)
    await until(() => server.connections.open <= 1, 'the end of the watch')
    assert.is(server.requests.length, 2)
  }))

test('a reflector says when it has a version of an object, or a later one', () =>
  withReflector(
    [list('9', service('a', '9')), closed(['MODIFIED', service('a', '11')]), open()],
    async ({ services }) => {
      assert.is(await services.hasReached(service('a', '10'), 60_000), true)
      assert.is(await services.hasReached(service('a', '9'), 60_000), true)
      assert.is(await services.hasReached(service('a', '12'), 5), false)
      assert.is(await services.hasReached(service('b', '1'), 5), false)
    },
  ))

test('a listener that throws stops neither the others nor the reflector', () =>
  withReflector([list('1', service('a')), open(['ADDED', service('b', '2')])], async ({ services, changes, log }) => {
    services.onChange(() => {
      throw new Error('a bug')
    })
    await until(() => services.list().length === 2)
    assert.is(changes.length, 2)
    assert.is(log.lines.find(({ level }) => level === 'error')?.message, 'listener threw')
  }))

test('the time since the last response is measured', () =>
  withReflector([list('1'), open()], async ({ services }) => {
    await services.synced()
    const before = services.silentForMs()
    await until(() => services.silentForMs() >= before + 20)
    assert.ok(services.silentForMs() < 60_000)
  }))

test.run()
