import type { ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Pace } from '../../kube/list-watch.ts'
import type { Service } from '../../kube/objects.ts'
import { type ReflectorOptions, reflector } from '../../kube/reflector.ts'
import { services as resource } from '../../kube/resource.ts'
import { heardLog } from './heard-log.ts'
import { type Asked, type PlayedServer, answer, clientOf, errorOf, refuse, until, withServer } from './played-server.ts'

type Turn = (response: ServerResponse, asked: Asked) => void

function service(name: string, version = '1', more: object = {}): Service {
  const metadata = { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: version, ...more }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: {} }
}

const list =
  (version: string, ...items: Service[]): Turn =>
  (response) =>
    answer(response, { metadata: { resourceVersion: version }, items })

const page =
  (token: string, ...items: Service[]): Turn =>
  (response) =>
    answer(response, { metadata: { resourceVersion: '1', continue: token }, items })

/** Events, then the connection stays open. */
const open =
  (...events: [type: string, object: object][]): Turn =>
  (response) => {
    response.writeHead(200)
    response.flushHeaders()
    for (const [type, object] of events) response.write(`${JSON.stringify({ type, object })}\n`)
  }

/** The same, and then the server hangs up. */
const closed =
  (...events: [type: string, object: object][]): Turn =>
  (response, asked) => {
    open(...events)(response, asked)
    response.end()
  }

const fails =
  (status: number, said: Parameters<typeof refuse>[2] = {}): Turn =>
  (response) =>
    refuse(response, status, said)

const resets: Turn = (response) => response.socket?.resetAndDestroy()
const says =
  (line: string): Turn =>
  (response) =>
    void response.writeHead(200).end(line)
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
const bookmark = (resourceVersion: string): [string, object] => ['BOOKMARK', { metadata: { resourceVersion } }]

const quick: Partial<Pace> = { firstMs: 2, maxMs: 8, healthyMs: 5_000 }

type Run = {
  services: ReturnType<typeof reflector<Service>>
  server: PlayedServer
  changes: string[]
  log: ReturnType<typeof heardLog>
  stop: AbortController
}

/** A reflector against a server that plays these turns one after the other; the last one is played for ever. */
async function follow(
  pendingKeys: Turn[],
  test: (run: Run) => Promise<void>,
  options: Partial<ReflectorOptions<Service>> = {},
) {
  const play = (asked: Asked, response: ServerResponse) =>
    (pendingKeys.length > 1 ? pendingKeys.shift() : pendingKeys[0])?.(response, asked)
  await withServer(play, async (server) => {
    const log = heardLog()
    const followed = reflector({ client: clientOf(server), resource, log, pace: quick, ...options })
    const changes: string[] = []
    followed.onChange((key, current, previous) =>
      changes.push(`${key} ${previous?.metadata.resourceVersion ?? '-'} > ${current?.metadata.resourceVersion ?? '-'}`),
    )
    const stop = new AbortController()
    followed.start(stop.signal)
    try {
      await test({ services: followed, server, changes, log, stop })
    } finally {
      stop.abort()
    }
  })
}

/** What was asked, in short: `list`, `list+token`, `watch@version`. */
function story({ asked }: PlayedServer): string[] {
  return asked.map(({ query }) => {
    if (query.watch) return `watch@${query.resourceVersion}`
    return query.continue ? `list+${query.continue}` : 'list'
  })
}

test('pages make one list, and the watch goes on where it ends', () =>
  follow([page('next', service('a')), list('7', service('b')), open(['ADDED', service('c', '8')])], async (run) => {
    await run.services.synced()
    assert.equal(
      run.services.list().map(({ metadata }) => metadata.name),
      ['a', 'b'],
    )
    await until(() => run.services.get('default/c') !== undefined)
    assert.equal(run.changes, ['default/a - > 1', 'default/b - > 1', 'default/c - > 8'])
    assert.equal(story(run.server), ['list', 'list+next', 'watch@7'])
    assert.is(run.server.asked[0]?.query.limit, '100')
  }))

test('changes and deletes are told with what was there before', () =>
  follow(
    [list('1', service('a'), service('b')), open(['MODIFIED', service('a', '2')], ['DELETED', service('b', '3')])],
    async ({ services, changes }) => {
      await until(() => changes.length === 4)
      assert.equal(changes.slice(2), ['default/a 1 > 2', 'default/b 1 > -'])
      assert.is(services.get('default/b'), undefined)
    },
  ))

test('only the selected objects are asked for', () =>
  follow(
    [list('1'), open()],
    async ({ server }) => {
      await until(() => server.asked.length === 2)
      for (const { path, query } of server.asked) {
        assert.is(path, '/api/v1/namespaces/eip/services')
        assert.equal([query.labelSelector, query.fieldSelector], ['l=1', 'f=2'])
      }
    },
    { namespace: 'eip', labelSelector: 'l=1', fieldSelector: 'f=2' },
  ))

test('what nobody reads is not kept, and what is kept is not to be changed', () => {
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  const noisy = service('a', '1', { managedFields: [{}], annotations: { [lastApplied]: '{}', mine: 'x' } })
  return follow(
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

const survived: { name: string; pendingKeys: Turn[]; asked: string[] }[] = [
  {
    name: 'a watch that the server ends',
    pendingKeys: [list('1'), closed(), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'watch@1'],
  },
  {
    name: 'a bookmark, from which the next watch goes on',
    pendingKeys: [list('1'), closed(bookmark('5')), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'watch@5'],
  },
  {
    name: 'an old version, told by the status',
    pendingKeys: [list('1'), fails(410, { reason: 'Gone' }), list('4'), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'list', 'watch@4'],
  },
  {
    name: 'an old version, told inside the stream',
    pendingKeys: [list('1'), open(['ERROR', gone]), list('4'), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'list', 'watch@4'],
  },
  {
    name: 'an old version again and again',
    pendingKeys: [list('1'), fails(410), list('2'), fails(410), list('3'), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'list', 'watch@2', 'list', 'watch@3'],
  },
  {
    name: 'a continue token that expires in the middle of a list',
    pendingKeys: [page('x', service('a')), fails(410, { reason: 'Expired' }), list('3', service('z', '9')), open()],
    asked: ['list', 'list+x', 'list', 'watch@3'],
  },
  {
    name: 'errors of the server',
    pendingKeys: [fails(500), fails(403), list('1'), fails(500), fails(503), open(['ADDED', service('z', '9')])],
    asked: ['list', 'list', 'list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'a token that is refused',
    pendingKeys: [list('1'), fails(401), fails(401), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'resets, before and in a watch',
    pendingKeys: [
      list('1'),
      resets,
      (response) => void response.writeHead(200).write('', () => response.socket?.resetAndDestroy()),
      open(['ADDED', service('z', '9')]),
    ],
    asked: ['list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'half a line and a garbage line',
    pendingKeys: [list('1'), says('{"type":'), says('garbage\n'), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'watch@1', 'watch@1'],
  },
  {
    name: 'an error that is none of the known ones',
    pendingKeys: [list('1'), says('{"type":"ERROR","object":{}}\n'), open(['ADDED', service('z', '9')])],
    asked: ['list', 'watch@1', 'watch@1'],
  },
]

for (const { name, pendingKeys, asked } of survived) {
  test(`a reflector survives ${name}`, () =>
    follow(pendingKeys, async ({ services, server }) => {
      await until(() => services.get('default/z') !== undefined)
      await until(() => server.asked.length === asked.length)
      assert.equal(story(server), asked)
    }))
}

test('a silent watch is given up, and the next goes on from the same place', () =>
  follow(
    [list('1'), open(bookmark('6')), open(['ADDED', service('z', '9')])],
    async ({ services, server }) => {
      await until(() => services.get('default/z') !== undefined)
      assert.equal(story(server).slice(0, 3), ['list', 'watch@1', 'watch@6'])
    },
    { pace: { ...quick, timeoutMs: 20, graceMs: 20 } },
  ))

test('a server that was away for a while loses nothing of what was deleted meanwhile', () =>
  follow(
    [
      list('1', service('stays'), service('goes'), service('changes'), service('is-made-anew')),
      resets,
      fails(410),
      list('9', service('stays'), service('changes', '8'), service('is-made-anew', '1', { uid: 'another' })),
      open(),
    ],
    async ({ services, changes, server }) => {
      await until(() => server.asked.length === 5)
      assert.equal(changes.slice(4), ['default/goes 1 > -', 'default/changes 1 > 8', 'default/is-made-anew 1 > 1'])
      assert.equal(services.list().length, 3)
    },
  ))

test('a server that is down is asked more and more rarely, and said to be so once it is clear', () =>
  follow(
    [fails(500)],
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

test('a server that came back and forgot our version is listed at once, but not again and again', () =>
  follow([list('1'), resets, resets, fails(410), list('2'), fails(410), list('3'), open()], async ({ log, server }) => {
    await until(() => server.asked.length === 8)
    const waits = log.lines.flatMap(({ fields }) => ('waitMs' in fields ? [Number(fields.waitMs) > 0] : []))
    assert.equal(waits, [true, true, false, true])
  }))

test('the server says how long to stay away, and we do', () =>
  follow([list('1'), fails(429, { headers: { 'retry-after': '1' } }), open()], async ({ log, server }) => {
    await until(() => log.lines.some(({ fields }) => fields.waitMs === 1_000))
    assert.is(server.asked.length, 2)
  }))

test('a watch that lasted sets the wait back, and its clean end needs none', () =>
  follow(
    [
      fails(500),
      fails(500),
      fails(500),
      list('1'),
      (response, asked) => {
        open()(response, asked)
        setTimeout(() => response.end(), 60)
      },
      open(),
    ],
    async ({ log, server }) => {
      await until(() => server.asked.length === 6)
      const ends = log.lines.filter(({ message }) => message !== 'listed')
      assert.equal(ends.at(-1)?.fields.waitMs, 0)
      assert.equal(
        ends.map(({ fields }) => fields.failures),
        [1, 2, 3, 0],
      )
    },
    { pace: { ...quick, healthyMs: 40 } },
  ))

test('an abort is silence, and leaves no connection behind', () =>
  follow([list('1', service('a')), open(['ADDED', service('b', '2')])], async ({ services, server, log, stop }) => {
    await until(() => services.list().length === 2)
    stop.abort()
    // The kept connection of the list may stay; the one of the watch must not.
    await until(() => server.connections.open <= 1, 'the end of the watch')
    assert.is(server.asked.length, 2)
    assert.equal(
      log.lines.filter(({ level }) => level !== 'debug'),
      [],
    )
  }))

test('many broken watches leave no connections behind', () =>
  follow([list('1'), ...Array.from({ length: 30 }, () => closed()), open()], async ({ server }) => {
    await until(() => server.asked.length === 32)
    await until(() => server.connections.open <= 2, 'the end of the old watches')
    assert.is(server.connections.opened, 32)
  }))

test('who waits for the first list gets it, or the reason why it will not come', () =>
  follow([fails(500), list('1'), open()], async ({ services }) => {
    assert.is(services.hasSynced(), false)
    await services.synced()
    assert.is(services.hasSynced(), true)
    const client = clientOf({ url: 'http://127.0.0.1:1' })
    const still = reflector({ client, resource, log: heardLog() })
    assert.is((await errorOf(still.synced(AbortSignal.timeout(5)))).name, 'AbortError')
  }))

test('a listener that throws stops neither the others nor the reflector', () =>
  follow([list('1', service('a')), open(['ADDED', service('b', '2')])], async ({ services, changes, log }) => {
    services.onChange(() => {
      throw new Error('a bug')
    })
    await until(() => services.list().length === 2)
    assert.is(changes.length, 2)
    assert.is(log.lines.find(({ level }) => level === 'error')?.message, 'listener threw')
  }))

test('the silence of the server is measured', () =>
  follow([list('1'), open()], async ({ services }) => {
    await services.synced()
    const before = services.silentForMs()
    await until(() => services.silentForMs() >= before + 20)
    assert.ok(services.silentForMs() < 5_000)
  }))

test.run()
