import { type AddressInfo, createServer } from 'node:net'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runs } from '../../property-runs.ts'
import type { Fault, Exchange } from '../../../clouds/ports/cloud.ts'
import { vendorHttp, type VendorHttpOptions } from '../../../clouds/http/client.ts'
import type { VendorCall } from '../../../clouds/http/request.ts'
import { cloudErrorOf, neverAborted, type Reply, startScript } from '../scripted-server.ts'

const token = 'tok-5ecret/+=9'

function callerOf(baseUrl: string, more: Partial<VendorHttpOptions> = {}) {
  return vendorHttp({
    vendor: 'Example',
    baseUrl,
    userAgent: 'eip-admission/test',
    headers: () => ({ authorization: `Bearer ${token}` }),
    errorText: (body) => (body as { message?: string }).message,
    retryDelayMs: 10,
    ...more,
  })
}

const read: VendorCall = { name: 'list', method: 'GET', path: ['things'], query: { page: 1 } }
const write: VendorCall = { name: 'make', method: 'POST', path: ['things'], body: { size: 1 } }

/** How one call against a server that always replies the same ends. */
async function outcomeOf(reply: Reply, call: VendorCall, more: Partial<VendorHttpOptions> = {}) {
  await using server = await startScript(() => reply)
  const error = await cloudErrorOf(callerOf(server.url, more).call(call, neverAborted))
  return { error, requests: server.seen.length }
}

test('a call carries path, query, body and headers', async () => {
  await using server = await startScript(() => ({ status: 201, json: { id: 1 }, headers: { 'x-total-count': '7' } }))
  const call: VendorCall = {
    name: 'make',
    method: 'POST',
    path: ['projects', 'a/b ü', 'ips'],
    query: { types: ['x', 'y'], page: 2 },
    body: { size: 1 },
  }
  const answer = await callerOf(`${server.url}/v1/`).call(call, neverAborted)
  assert.equal([answer.status, answer.body, answer.headers.get('x-total-count')], [201, { id: 1 }, '7'])
  const seen = server.seen[0]!
  assert.is(seen.path, '/v1/projects/a%2Fb%20%C3%BC/ips')
  assert.is(seen.query.toString(), 'types=x&types=y&page=2')
  assert.equal(seen.body, { size: 1 })
  assert.is(seen.headers.authorization, `Bearer ${token}`)
  assert.is(seen.headers['content-type'], 'application/json')
  assert.is(seen.headers['user-agent'], 'eip-admission/test')
})

test('a call that waited for its turn carries the current token', async () => {
  let current = 'previous'
  await using server = await startScript(() => ((current = 'rotated'), { status: 204 }))
  const headers = () => ({ authorization: `Bearer ${current}` })
  const http = callerOf(server.url, { headers, inFlight: 1 })
  await Promise.all([http.call(read, neverAborted), http.call(read, neverAborted)])
  assert.equal(
    server.seen.map((seen) => seen.headers.authorization),
    ['Bearer previous', 'Bearer rotated'],
  )
})

test('an answer without a body has none', async () => {
  await using server = await startScript(() => ({ status: 204 }))
  const answer = await callerOf(server.url).call({ name: 'x', method: 'DELETE', path: ['things', '1'] }, neverAborted)
  assert.equal([answer.status, answer.body], [204, undefined])
})

for (const part of ['', '.', '..'])
  test(`a path never has "${part}" for an id, which would be another object`, async () => {
    await using server = await startScript(() => ({ json: {} }))
    const call: VendorCall = { name: 'drop', method: 'DELETE', path: ['things', part] }
    const error = await cloudErrorOf(callerOf(server.url).call(call, neverAborted))
    assert.equal([error.fault, error.outcome, server.seen.length], ['invalid', 'nothing', 0])
  })

const json = (status: number) => ({ status, json: { message: 'no more things' } })
const html = (status: number) => ({
  status,
  text: '<html><h1>Bad gateway</h1></html>',
  headers: { 'content-type': 'text/html' },
})
const refusals: { reply: Reply; fault: Fault; outcome: 'nothing' | 'unknown'; says: string }[] = [
  {
    reply: json(400),
    fault: 'invalid',
    outcome: 'nothing',
    says: 'Example answered 400 to POST /things: no more things',
  },
  { reply: json(401), fault: 'auth', outcome: 'nothing', says: 'answered 401 to POST /things: no more things' },
  { reply: json(403), fault: 'auth', outcome: 'nothing', says: 'answered 403' },
  { reply: json(404), fault: 'invalid', outcome: 'nothing', says: 'answered 404' },
  { reply: json(408), fault: 'unavailable', outcome: 'unknown', says: 'answered 408' },
  { reply: json(409), fault: 'conflict', outcome: 'nothing', says: 'answered 409' },
  { reply: json(422), fault: 'invalid', outcome: 'nothing', says: 'answered 422' },
  { reply: json(429), fault: 'rate-limit', outcome: 'nothing', says: 'answered 429' },
  { reply: json(500), fault: 'unavailable', outcome: 'unknown', says: 'no more things' },
  { reply: html(429), fault: 'rate-limit', outcome: 'nothing', says: 'answered 429 with text/html to POST /things' },
  { reply: html(502), fault: 'unavailable', outcome: 'unknown', says: 'answered 502 with text/html to POST /things' },
  { reply: html(403), fault: 'unavailable', outcome: 'nothing', says: 'answered 403 with text/html' },
  { reply: html(200), fault: 'unavailable', outcome: 'unknown', says: 'answered 200 with text/html' },
  { reply: { status: 503 }, fault: 'unavailable', outcome: 'unknown', says: 'answered 503 with an empty body to' },
  { reply: { status: 401 }, fault: 'auth', outcome: 'nothing', says: 'answered 401 with an empty body to' },
  { reply: { status: 404 }, fault: 'unavailable', outcome: 'nothing', says: 'answered 404 with an empty body to' },
  { reply: { status: 409, json: [] }, fault: 'unavailable', outcome: 'nothing', says: 'answered 409 to' },
  { reply: { status: 502, text: 'oops' }, fault: 'unavailable', outcome: 'unknown', says: 'with a body of no type' },
  {
    reply: { status: 302, headers: { location: 'https://elsewhere.example.com/' } },
    fault: 'unavailable',
    outcome: 'unknown',
    says: 'answered 302 (a redirect; a read follows a few, to the same host, and a write none)',
  },
  { reply: 'cut', fault: 'unavailable', outcome: 'unknown', says: 'Example broke off POST /things: other side closed' },
  { reply: 'cut in the middle', fault: 'unavailable', outcome: 'unknown', says: 'Example broke off POST /things' },
  {
    reply: 'silence',
    fault: 'unavailable',
    outcome: 'unknown',
    says: 'Example did not answer POST /things within 1 s',
  },
]
for (const { reply, fault, outcome, says } of refusals) {
  // Whoever came too soon was not heard, and comes again.
  const tries = fault === 'rate-limit' ? 4 : 1
  test(`of a write: ${says}: ${fault}, ${outcome}, after ${tries} tries`, async () => {
    const { error, requests } = await outcomeOf(reply, write, { writeTimeoutMs: reply === 'silence' ? 1_000 : 60_000 })
    assert.is(error.fault, fault)
    assert.is(error.outcome, outcome)
    assert.match(error.message, says)
    assert.not.match(error.message, /<h1>|oops/)
    assert.is(error.message.includes('may have succeeded'), outcome === 'unknown')
    assert.is(requests, tries)
  })
}

test('a write does not wait longer than a second: its caller gets an error', async () => {
  const reply = { ...json(429), headers: { 'retry-after': '1' } }
  const { error, requests } = await outcomeOf(reply, write, { writeTimeoutMs: 60_000 })
  assert.equal([error.fault, error.retryAfterMs, requests], ['rate-limit', 1000, 1])
})

const isTransient: { name: string; reply: Reply }[] = [
  { name: 'a 429', reply: json(429) },
  { name: 'a 500', reply: json(500) },
  { name: 'a 502 of a proxy', reply: html(502) },
  { name: 'a cut connection', reply: 'cut' },
  { name: 'a connection cut in the middle', reply: 'cut in the middle' },
]
for (const { name, reply } of isTransient) {
  test(`a read outlives ${name}`, async () => {
    await using server = await startScript((_, nth) => (nth < 3 ? reply : { json: { fine: true } }))
    assert.equal((await callerOf(server.url).call(read, neverAborted)).body, { fine: true })
    assert.is(server.seen.length, 3)
  })
  test(`a read ends after four times ${name}, with nothing done`, async () => {
    const { error, requests } = await outcomeOf(reply, read)
    assert.equal([requests, error.outcome], [4, 'nothing'])
  })
}

/** A redirect, to this host where nothing else is said. */
const redirect = (location: string, status = 301): Reply => ({ status, headers: { location } })

for (const status of [301, 302, 303, 307, 308])
  test(`a read follows a ${status} on its host, with its credentials and in its turn`, async () => {
    let pendingKeys = 0
    await using server = await startScript(({ path }) =>
      path === '/things' ? redirect('/others?page=2', status) : { json: { fine: true } },
    )
    const caller = callerOf(server.url, { observe: () => (pendingKeys += 1) })
    assert.equal((await caller.call(read, neverAborted)).body, { fine: true })
    assert.equal(
      server.seen.map(({ path, query, headers }) => [path, query.get('page'), headers.authorization]),
      [
        ['/things', '1', `Bearer ${token}`],
        ['/others', '2', `Bearer ${token}`],
      ],
    )
    assert.is(pendingKeys, 2)
  })

test('a read that is sent in a circle ends, with nothing done', async () => {
  const { error, requests } = await outcomeOf(redirect('/things'), read)
  assert.equal([error.fault, error.outcome, requests], ['unavailable', 'nothing', 4])
})

test('a write that is sent on is not repeated there', async () => {
  const { error, requests } = await outcomeOf(redirect('/others', 307), write)
  assert.equal([error.outcome, requests], ['unknown', 1])
})

for (const reply of [json(401), json(403), json(404), json(422)])
  test(`a read is not repeated after a ${reply.status}`, async () => {
    assert.is((await outcomeOf(reply, read)).requests, 1)
  })

test('a refusal that the caller accepts is an answer', async () => {
  await using server = await startScript(() => json(404))
  assert.is((await callerOf(server.url).call({ ...read, accept: [404] }, neverAborted)).status, 404)
})

test("a proxy's 404 is no answer, even where a 404 is one", async () => {
  const { error } = await outcomeOf(html(404), { ...read, accept: [404] })
  assert.is(error.fault, 'unavailable')
})

const reset = String(Math.ceil(Date.now() / 1000) + 3600)
for (const { name, headers, ms } of [
  { name: 'a rate limit, whose window ends later, is no reason to wait', headers: {}, ms: undefined },
  { name: 'Retry-After is', headers: { 'retry-after': '2' }, ms: 2000 },
])
  test(`at a cloud that is unavailable ${name}`, async () => {
    const reply = { status: 503, json: {}, headers: { 'x-ratelimit-reset': reset, ...headers } }
    const { error } = await outcomeOf(reply, write)
    assert.equal([error.fault, error.retryAfterMs], ['unavailable', ms])
  })

test('the error has the wait that the provider asks for', async () => {
  const reply: Reply = { status: 429, json: {}, headers: { 'retry-after': '30' } }
  assert.is((await outcomeOf(reply, write)).error.retryAfterMs, 30_000)
})

test('a read does not wait where the provider asks for more than its time', async () => {
  const reply: Reply = { status: 429, json: {}, headers: { 'retry-after': '30' } }
  const { error, requests } = await outcomeOf(reply, read)
  assert.equal([requests, error.retryAfterMs], [1, 30_000])
})

test('a write whose time is over before its turn comes again has done nothing, for certain', async () => {
  await using server = await startScript(() => json(429))
  const http = callerOf(server.url, { rate: { calls: 1, perMs: 60_000 }, writeTimeoutMs: 3_000 })
  const error = await cloudErrorOf(http.call(write, neverAborted))
  assert.equal([error.fault, error.outcome, server.seen.length], ['rate-limit', 'nothing', 1])
})

test('a read waits as long as the provider asks', async () => {
  await using server = await startScript((_, nth) =>
    nth === 1 ? { status: 429, json: {}, headers: { 'retry-after': '1' } } : { json: {} },
  )
  const startedAt = performance.now()
  await callerOf(server.url).call(read, neverAborted)
  assert.ok(performance.now() - startedAt >= 1000)
})

test('after a refusal the calls of a cloud that says its pace keep it, although others were accepted', async () => {
  const paceMs = 400
  const began: number[] = []
  await using server = await startScript((_, nth) => {
    began.push(performance.now())
    const date = 'Sat, 31 Jan 2026 09:00:00 GMT'
    const reset = String((Date.parse(date) + 100 * paceMs) / 1000)
    const headers = { date, 'ratelimit-limit': '100', 'ratelimit-remaining': '0', 'ratelimit-reset': reset }
    return { status: nth === 1 ? 429 : 200, json: {}, headers }
  })
  const http = callerOf(server.url, { resetIsWait: false, retryDelayMs: 1 })
  const move: VendorCall = { ...read, lane: 'move' }
  await http.call(move, neverAborted)
  await Promise.all([1, 2, 3].map(() => http.call(move, neverAborted)))
  const [refusedMs = 0, ...others] = began
  others.forEach((ms, n) => assert.ok(ms - refusedMs > paceMs * (n + 1) - 20, `call ${n} after ${ms - refusedMs} ms`))
})

test('a read gets no more than its time for all its tries', async () => {
  const reply = { status: 500, json: {}, afterMs: 80 }
  const { error, requests } = await outcomeOf(reply, { ...read, timeoutMs: 200 })
  assert.is(error.outcome, 'nothing')
  assert.ok(requests <= 3, `${requests} tries of 80 ms in 200 ms`)
})

test('a port where nobody listens did nothing', async () => {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  const error = await cloudErrorOf(callerOf(`http://127.0.0.1:${port}`).call(write, neverAborted))
  assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  assert.match(error.message, `Example cannot be reached for POST /things: connect ECONNREFUSED 127.0.0.1:${port}`)
})

test('an unknown host did nothing', async () => {
  const error = await cloudErrorOf(callerOf('https://nowhere.invalid').call(write, neverAborted))
  assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
})

test('a caller who gives up while the call is under way does not know how it ended', async () => {
  await using server = await startScript(() => 'silence')
  const error = await cloudErrorOf(callerOf(server.url).call(write, AbortSignal.timeout(50)))
  assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
  assert.match(error.message, 'canceled while it was in flight; it may have succeeded')
})

test('a caller who gives up in the queue knows that nothing was done', async () => {
  await using server = await startScript(() => ({ json: {}, afterMs: 150 }))
  const http = callerOf(server.url, { inFlight: 1 })
  const busy = http.call(write, neverAborted)
  const error = await cloudErrorOf(http.call(write, AbortSignal.timeout(30)))
  assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  await busy
  assert.is(server.seen.length, 1)
})

test('a caller who gives up between two tries of a read is let go at once', async () => {
  await using server = await startScript(() => json(500))
  // A caller who waited for the next try would outlast the test.
  const http = callerOf(server.url, { retryDelayMs: 1_000_000 })
  const call = http.call({ ...read, timeoutMs: 2_000_000 }, AbortSignal.timeout(100))
  assert.match((await cloudErrorOf(call)).message, 'canceled')
})

test('the remedy follows the problem', async () => {
  const hints = { auth: 'look at the key' }
  const { error } = await outcomeOf(json(401), { ...write, hints: { invalid: 'look at the size' } }, { hints })
  assert.is(error.message, 'Example answered 401 to POST /things: no more things; look at the key')
})

const ownReading: VendorHttpOptions['fault'] = ({ name, status, text }) =>
  name === 'make' && status === 403 && text === 'no more things' ? 'quota' : undefined
for (const { status, fault } of [
  { status: 403, fault: 'quota' },
  { status: 401, fault: 'auth' },
])
  test(`a vendor can read its refusals its own way: ${status} is ${fault}`, async () => {
    assert.is((await outcomeOf(json(status), write, { fault: ownReading })).error.fault, fault)
  })

test('every exchange is observed, retries included', async () => {
  const seen: Exchange[] = []
  await using server = await startScript((_, nth) => (nth === 1 ? json(500) : nth === 2 ? 'cut' : { json: {} }))
  await callerOf(server.url, { observe: (exchange) => seen.push(exchange) }).call(read, neverAborted)
  assert.equal(
    seen.map(({ call, status, fault }) => [call, status, fault]),
    [
      ['list', 500, 'unavailable'],
      ['list', undefined, 'unavailable'],
      ['list', 200, undefined],
    ],
  )
  assert.ok(seen.every(({ ms }) => ms >= 0 && ms < 10_000))
})

/** All that an error carries into a log: message, stack, and the same of its causes. */
function everythingIn(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.stack} ${everythingIn(error.cause)}` : String(error)
}

test('no message repeats the token, whatever the provider says', async () => {
  const around = fc.record({
    before: fc.string(),
    after: fc.string({ maxLength: 400 }),
    status: fc.constantFrom(200, 400, 401, 403, 404, 422, 429, 500),
    shape: fc.constantFrom('json', 'text'),
  })
  let next: Reply = {}
  await using server = await startScript(() => next)
  await fc.assert(
    fc.asyncProperty(around, async ({ before, after, status, shape }) => {
      const message = `${before}${token}${after}Bearer ${token}`
      next = shape === 'json' ? { status, json: { message } } : { status, text: `<p>${message}` }
      const work = callerOf(server.url).call({ ...write, accept: [] }, neverAborted)
      if (status === 200 && shape === 'json') await work
      else assert.not.match(everythingIn(await cloudErrorOf(work)), token)
    }),
    runs(60),
  )
})

test('a token that no header can carry is named as the fault, not repeated', async () => {
  await using server = await startScript(() => ({ json: {} }))
  const http = callerOf(server.url, { headers: () => ({ authorization: 'Bearer hush\nhush☃' }) })
  const error = await cloudErrorOf(http.call(write, neverAborted))
  assert.equal([error.fault, error.outcome, server.seen.length], ['auth', 'nothing', 0])
  assert.not.match(everythingIn(error), 'hush')
})

test('long texts of a vendor are truncated, and line breaks folded', async () => {
  const { error } = await outcomeOf({ status: 422, json: { message: `a\r\n\u0007b ${'x'.repeat(1000)}` } }, write)
  assert.match(error.message, 'to POST /things: a b xxx')
  assert.ok(error.message.length < 400)
})

for (const prefix of ['', 'x-'])
  test(`while the provider says by ${prefix}RateLimit that few calls are left, those that are no moves begin slowly`, async () => {
    const few = { [`${prefix}ratelimit-limit`]: '100', [`${prefix}ratelimit-remaining`]: '19' }
    await using server = await startScript(() => ({ status: 200, json: {}, headers: few }))
    const http = callerOf(server.url)
    const read = () => http.call({ name: 'read', method: 'GET', path: ['a'] }, neverAborted)
    await read()
    const fromMs = performance.now()
    await read()
    assert.ok(performance.now() - fromMs >= 1_900)
  })

test.run()
