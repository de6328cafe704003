import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { vendorHttp, type VendorHttpOptions } from '../../../clouds/http/client.ts'
import type { VendorCall } from '../../../clouds/http/request.ts'
import { tokenCredentials } from '../../../clouds/http/token.ts'
import type { Exchange } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply, type Seen, startScript } from '../scripted-server.ts'

const read: VendorCall = { name: 'list', method: 'GET', path: ['things'] }
const write: VendorCall = { name: 'make', method: 'POST', path: ['things'], body: { size: 1 } }

type Script = {
  grant?: (nth: number, request: Seen) => Reply
  api?: (request: Seen, nth: number) => Reply
  more?: Partial<VendorHttpOptions>
  now?: () => number
  timeoutMs?: number
}

const granted = (nth: number, seconds: unknown = 3600): Reply => ({
  json: { access_token: `t0ken-${nth}`, expires_in: seconds },
})

/** A client whose tokens come from the same server, below /token. */
async function withTokens(
  { grant = granted, api = () => ({ json: {} }), more = {}, now, timeoutMs }: Script,
  run: (of: {
    http: ReturnType<typeof vendorHttp>
    rotate: (secret: string) => void
    grants: () => Seen[]
    bearers: () => (string | undefined)[]
  }) => Promise<void>,
) {
  let [grants, calls] = [0, 0]
  let secret = 's3cret-one'
  const isGrant = ({ path }: Seen) => path === '/token'
  await using server = await startScript((request) =>
    isGrant(request) ? grant(++grants, request) : api(request, ++calls),
  )
  const common = { vendor: 'Example', baseUrl: server.url, userAgent: 'test', retryDelayMs: 1, errorText: textIn }
  const tokens = vendorHttp({
    ...common,
    headers: () => ({ authorization: `Basic ${Buffer.from(`id:${secret}`).toString('base64')}` }),
    fault: ({ status }) => (status < 500 ? 'auth' : undefined),
    ...(timeoutMs !== undefined && { readTimeoutMs: timeoutMs }),
  })
  const call: VendorCall = {
    name: 'token',
    method: 'POST',
    path: ['token'],
    form: { grant_type: 'client_credentials' },
  }
  const credentials = tokenCredentials({ vendor: 'Example', http: tokens, call, basis: () => secret, now })
  await run({
    http: vendorHttp({ ...common, ...credentials, ...more }),
    rotate: (next) => void (secret = next),
    grants: () => server.seen.filter(isGrant),
    bearers: () =>
      server.seen.filter((one) => !isGrant(one)).map(({ headers }) => headers.authorization?.split('-').at(-1)),
  })
}

const textIn = (body: unknown) => (body as { message?: string }).message

test('a token is requested by a form, when a call needs it and not before, and by one request for all calls', () =>
  withTokens({}, async ({ http, grants, bearers }) => {
    assert.is(grants().length, 0)
    await Promise.all([http.call(read, neverAborted), http.call(write, neverAborted), http.call(read, neverAborted)])
    await http.call(read, neverAborted)
    const [grant, ...others] = grants()
    assert.equal([grant?.method, grant?.body, others], ['POST', { grant_type: 'client_credentials' }, []])
    assert.match(grant?.headers.authorization ?? '', /^Basic /)
    assert.equal(bearers(), ['1', '1', '1', '1'])
  }))

const lives: { seconds: unknown; heldMs: number; overMs: number }[] = [
  { seconds: 3600, heldMs: 3_539_000, overMs: 3_541_000 },
  { seconds: 10, heldMs: 4_900, overMs: 5_100 },
  { seconds: null, heldMs: 239_000, overMs: 241_000 },
  { seconds: 'soon', heldMs: 239_000, overMs: 241_000 },
]
for (const { seconds, heldMs, overMs } of lives)
  test(`a token that holds ${String(seconds)} seconds is renewed before it ends`, async () => {
    let nowMs = 0
    await withTokens({ grant: (nth) => granted(nth, seconds), now: () => nowMs }, async ({ http, bearers }) => {
      for (const ms of [0, heldMs, overMs]) {
        nowMs = ms
        await http.call(read, neverAborted)
      }
      assert.equal(bearers(), ['1', '1', '2'])
    })
  })

const refusing =
  (last: string) =>
  ({ headers }: Seen): Reply =>
    headers.authorization === `Bearer t0ken-${last}`
      ? { status: 401, json: { message: 'expired' }, afterMs: 20 }
      : { json: {} }

test('after a 401 a call is sent once more with another token, a write as well, and no fault is observed', () => {
  const seen: Exchange[] = []
  return withTokens({ api: refusing('1'), more: { observe: (one) => seen.push(one) } }, async ({ http, bearers }) => {
    await http.call(write, neverAborted)
    assert.equal(bearers(), ['1', '2'])
    assert.equal(
      seen.map(({ status, fault }) => [status, fault]),
      [
        [401, undefined],
        [200, undefined],
      ],
    )
  })
})

test('calls that are refused at the same time share one new token', () =>
  withTokens({ api: refusing('1') }, async ({ http, grants }) => {
    await Promise.all([http.call(read, neverAborted), http.call(read, neverAborted), http.call(write, neverAborted)])
    assert.is(grants().length, 2)
  }))

test('a second 401 is an error of the credentials that shows none, and no third call is sent', () => {
  const api = (): Reply => ({ status: 401, json: { message: 'no right for t0ken-2, granted for s3cret-one' } })
  return withTokens({ api }, async ({ http, bearers }) => {
    const error = await cloudErrorOf(http.call(write, neverAborted))
    assert.equal([error.fault, error.outcome, bearers()], ['auth', 'nothing', ['1', '2']])
    assert.not.match(`${error.message} ${error.stack}`, 't0ken')
  })
})

test('a secret that is rotated gets a token of its own, also while one for the previous is on its way', () => {
  const { promise: isAsked, resolve } = Promise.withResolvers<void>()
  const grant = (nth: number): Reply => {
    resolve()
    return { ...(granted(nth) as object), afterMs: 20 }
  }
  return withTokens({ grant }, async ({ http, rotate, grants, bearers }) => {
    const first = http.call(read, neverAborted)
    await isAsked
    rotate('s3cret-two')
    await Promise.all([first, http.call(read, neverAborted)])
    const secrets = grants().map(({ headers }) =>
      Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString(),
    )
    assert.equal(secrets, ['id:s3cret-one', 'id:s3cret-two'])
    assert.equal(bearers().map(String).toSorted(), ['1', '2'])
  })
})

const failures: { name: string; grant: Reply; fault: string }[] = [
  { name: 'refused', grant: { status: 400, json: { message: 's3cret-one is unknown' } }, fault: 'auth' },
  { name: 'forbidden', grant: { status: 403, json: {} }, fault: 'auth' },
  { name: 'a server error', grant: { status: 500, json: {} }, fault: 'unavailable' },
  { name: 'cut off', grant: 'cut', fault: 'unavailable' },
  { name: "a proxy's page", grant: { status: 403, text: '<html>' }, fault: 'unavailable' },
  { name: 'without a token', grant: { json: { expires_in: 5 } }, fault: 'unavailable' },
]
for (const { name, grant, fault } of failures)
  test(`a request for a token that is ${name} fails the call, which did nothing: ${fault}`, () =>
    withTokens({ grant: () => grant }, async ({ http, bearers }) => {
      const error = await cloudErrorOf(http.call(write, neverAborted))
      assert.equal([error.fault, error.outcome, bearers()], [fault, 'nothing', []])
      for (const secret of ['s3cret-one', Buffer.from('id:s3cret-one').toString('base64')])
        assert.not.match(`${error.message} ${error.stack}`, secret)
    }))

test('a request for a token outlives a server error, and one that failed is not remembered', () =>
  withTokens(
    { grant: (nth) => (nth === 1 ? { status: 401, json: {} } : nth === 2 ? { status: 503, json: {} } : granted(nth)) },
    async ({ http, bearers }) => {
      assert.is((await cloudErrorOf(http.call(read, neverAborted))).fault, 'auth')
      await http.call(read, neverAborted)
      assert.equal(bearers(), ['3'])
    },
  ))

test('a call waits for its token no longer than for its answer, and has done nothing then', () =>
  withTokens({ grant: () => 'silence', timeoutMs: 60_000 }, async ({ http, bearers }) => {
    const error = await cloudErrorOf(http.call({ ...write, timeoutMs: 50 }, neverAborted))
    assert.equal([error.fault, error.outcome, bearers()], ['unavailable', 'nothing', []])
    assert.match(error.message, 'POST /things was not sent: it got no token within 0.05 s')
    const canceled = await cloudErrorOf(http.call(write, AbortSignal.timeout(20)))
    assert.equal([canceled.fault, canceled.outcome], ['unavailable', 'nothing'])
    assert.match(canceled.message, 'canceled before it was sent')
  }))

test('a caller who leaves does not end the request for the token that others wait for', () =>
  withTokens({ grant: (nth) => ({ ...(granted(nth) as object), afterMs: 60 }) }, async ({ http, grants, bearers }) => {
    const stays = http.call(read, neverAborted)
    await cloudErrorOf(http.call(read, AbortSignal.timeout(10)))
    await stays
    assert.equal([grants().length, bearers()], [1, ['1']])
  }))

test('a call whose time ends while it fetches another token after a 401 has done nothing', () => {
  const grant = (nth: number): Reply => (nth === 1 ? granted(nth) : 'silence')
  return withTokens({ grant, api: refusing('1'), timeoutMs: 60_000 }, async ({ http }) => {
    const error = await cloudErrorOf(http.call({ ...write, timeoutMs: 3_000 }, neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  })
})

test.run()
