import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Tls } from '../../kube/credentials.ts'
import { type ProbeResult, apiServerProbe } from '../../kube/probe.ts'
import { standStill } from '../lib/stand-still.ts'
import { recordedLog } from './recorded-log.ts'
import { selfSigned } from './self-signed.ts'

const named = selfSigned('127.0.0.1')
const other = selfSigned('192.0.2.1')
/** For servers that do not answer. The others have more time than any machine needs. */
const silentMs = 300

type Answer = (path: string, response: ServerResponse, request: IncomingMessage) => unknown

type Probing = {
  probe: (signal?: AbortSignal) => Promise<ProbeResult>
  log: ReturnType<typeof recordedLog>
  requests: IncomingMessage[]
  close: () => Promise<void>
}

async function withServer(
  answer: Answer,
  run: (probing: Probing) => Promise<void>,
  {
    pair = named,
    tls = { ca: pair.cert },
    timeoutMs = 30_000,
    introduces = false,
  }: { pair?: typeof named; tls?: Tls; timeoutMs?: number; introduces?: boolean } = {},
) {
  const requests: IncomingMessage[] = []
  const server = createServer(pair, (request, response) => {
    requests.push(request)
    void answer(request.url ?? '', response, request)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const log = recordedLog()
  const access = { url: 'https://192.0.2.1', headers: { authorization: 'Bearer 5ecret' }, tls }
  const credentials = { current: async () => access, renew: async () => access }
  const ask = apiServerProbe({ credentials, introduces, userAgent: 'test/1', timeoutMs, log })
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await once(server.close(), 'close')
  }
  try {
    await run({ probe: (signal) => ask({ address: '127.0.0.1', port }, signal), log, requests, close })
  } finally {
    await close()
  }
}

const status =
  (code: number, text = ''): Answer =>
  (_path, response) =>
    response.writeHead(code).end(text)
const failing = 'etcd: [-]etcd failed: reason withheld\n[+]ping ok\n[-]poststarthook/start failed: reason withheld\n'

const answers: [what: string, answer: Answer, expected: ProbeResult][] = [
  ['a ready server', status(200, 'ok'), { isWell: true }],
  ['a server that wants credentials', status(401), { isWell: true }],
  ['a server that refuses us', status(403), { isWell: true }],
  ['a server that has too much to do', status(429), { isWell: true }],
  [
    'a server that is not ready',
    status(500, failing.slice(6)),
    { isWell: false, isDefinite: true, reason: 'it answers 500: etcd, poststarthook/start' },
  ],
  ['a server in front of none', status(502, '<html>'), { isWell: false, isDefinite: true, reason: 'it answers 502' }],
  ['a server of another kind', status(404), { isWell: false, isDefinite: true, reason: 'it answers 404' }],
  ['a redirect', status(302), { isWell: false, isDefinite: true, reason: 'it answers 302' }],
  [
    'an old server without /readyz',
    (path, response) => response.writeHead(path === '/healthz' ? 200 : 404).end(),
    { isWell: true },
  ],
  [
    'a server that is silent',
    () => {},
    { isWell: false, isDefinite: false, reason: `no answer within ${silentMs} ms` },
  ],
  [
    'a server whose answer never ends',
    (_path, response) => response.writeHead(500).write('[-]etcd'),
    { isWell: false, isDefinite: false, reason: `no answer within ${silentMs} ms` },
  ],
  ['a server that answers in time', (_path, response) => sleep(150).then(() => response.end()), { isWell: true }],
  ['a long answer', status(200, 'x'.repeat(1_000_000)), { isWell: true }],
]

for (const [what, answer, expected] of answers)
  test(`probe of ${what}`, () =>
    withServer(
      answer,
      async ({ probe }) => {
        assert.equal(await probe(), expected)
      },
      expected.isWell || expected.isDefinite ? {} : { timeoutMs: silentMs },
    ))

test('an answer that came while this process stood still is an answer', () =>
  withServer(
    status(200, 'ok'),
    async ({ probe }) => {
      const probing = probe()
      setImmediate(standStill, 3_100)
      assert.equal(await probing, { isWell: true })
    },
    { timeoutMs: 3_000 },
  ))

test('a probe sends no credentials', () =>
  withServer(status(200), async ({ probe, requests }) => {
    await probe()
    assert.equal(
      [requests[0]?.url, requests[0]?.headers.authorization, requests[0]?.headers['user-agent']],
      ['/readyz', undefined, 'test/1'],
    )
  }))

/** As with `--anonymous-auth=false`: strangers learn nothing. */
const closed =
  (code: number, refusal = 401): Answer =>
  (path, response, { headers }) => {
    if (headers.authorization !== 'Bearer 5ecret') return response.writeHead(refusal).end()
    // It has no /readyz.
    if (code === 404 && path === '/healthz') return response.end()
    return response.writeHead(code).end()
  }

const introduced: [what: string, answer: Answer, expected: ProbeResult, authorized: number][] = [
  ['a closed server that is ready', closed(200), { isWell: true }, 1],
  ['a closed server that is not ready', closed(500), { isWell: false, isDefinite: true, reason: 'it answers 500' }, 1],
  [
    'a server that forbids it to strangers, and is not ready',
    closed(500, 403),
    { isWell: false, isDefinite: true, reason: 'it answers 500' },
    1,
  ],
  ['a closed server that is old', closed(404), { isWell: true }, 2],
  ['a server that refuses us too', status(401), { isWell: true }, 1],
  ['an open server', status(200), { isWell: true }, 0],
  ['a server that has too much to do', status(429), { isWell: true }, 0],
]
for (const [what, answer, expected, authorized] of introduced)
  test(`a probe with credentials of ${what} sends them ${authorized} times`, () =>
    withServer(
      answer,
      async ({ probe, requests }) => {
        assert.equal(await probe(), expected)
        assert.is(requests.filter(({ headers }) => headers.authorization !== undefined).length, authorized)
      },
      { introduces: true },
    ))

const strangers: [what: string, options: Parameters<typeof withServer>[2]][] = [
  ['a probe without credentials', {}],
  ['a server whose certificate does not name the address', { introduces: true, pair: other }],
  [
    'a server whose certificate nobody checks',
    { introduces: true, tls: { ca: named.cert, rejectUnauthorized: false } },
  ],
]
for (const [what, options] of strangers)
  test(`a closed server counts as well, and gets no credentials: ${what}`, () =>
    withServer(
      closed(500),
      async ({ probe, requests }) => {
        assert.equal(await probe(), { isWell: true })
        assert.ok(requests.every(({ headers }) => headers.authorization === undefined))
      },
      options,
    ))

test('a server that refuses connections fails at once', () =>
  withServer(status(200), async ({ probe, close }) => {
    await close()
    const result = await probe()
    assert.ok(!result.isWell && result.isDefinite)
    assert.match(result.reason, 'ECONNREFUSED')
  }))

test('a certificate of another CA is refused', () =>
  withServer(
    status(200),
    async ({ probe, requests }) => {
      const result = await probe()
      assert.ok(!result.isWell && result.isDefinite)
      assert.match(result.reason, 'self-signed certificate')
      assert.equal(requests, [])
    },
    { tls: { ca: other.cert } },
  ))

test('a certificate that does not name the address is accepted, and the log mentions it once', () =>
  withServer(
    status(200),
    async ({ probe, log }) => {
      assert.equal([await probe(), await probe()], [{ isWell: true }, { isWell: true }])
      assert.equal(
        log.lines.map(({ level, fields }) => [level, fields['address']]),
        [['warn', '127.0.0.1']],
      )
    },
    { pair: other },
  ))

test('a probe that is canceled ends', () =>
  withServer(
    () => {},
    async ({ probe }) => {
      const ending = new AbortController()
      const result = probe(ending.signal)
      ending.abort()
      assert.not((await result).isWell)
    },
  ))

test.run()
