import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetalBalancers } from '../../../../clouds/equinix-metal/balancers/client.ts'
import { Secret } from '../../../../lib/secret.ts'
import { type Reply, type Seen, cloudErrorOf, startScript } from '../../scripted-server.ts'

const key = 'the-api-key'
const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
const { signal } = new AbortController()

type Options = Partial<Parameters<typeof equinixMetalBalancers>[0]>
type Script = { exchange?: (nth: number) => Reply; api?: (request: Seen, nth: number) => Reply; options?: Options }

const tokenOf = (nth: number, seconds = 3600): Reply => ({
  json: { access_token: `token-${nth}`, token_type: 'Bearer', expires_in: seconds },
})

/** A client of a service that does what the script says; calls and exchanges are counted apart, each from 1. */
async function withScript(
  { exchange = tokenOf, api = () => ({ json: { loadbalancers: [] } }), options = {} }: Script,
  run: (of: {
    client: ReturnType<typeof equinixMetalBalancers>
    tokens: () => string[]
    exchanges: () => Seen[]
  }) => Promise<void>,
) {
  const isExchange = ({ path }: Seen) => path === '/iam/api-keys/exchange'
  let [exchanges, calls] = [0, 0]
  await using server = await startScript((request) =>
    isExchange(request) ? exchange(++exchanges) : api(request, ++calls),
  )
  const client = equinixMetalBalancers({
    apiKey: new Secret(key),
    projectId: project,
    userAgent: 'test',
    baseUrl: `${server.url}/lb`,
    tokensUrl: `${server.url}/iam`,
    retryDelayMs: 1,
    ...options,
  })
  const bearers = () => server.seen.filter((one) => !isExchange(one)).map(({ headers }) => headers.authorization ?? '')
  await run({ client, tokens: bearers, exchanges: () => server.seen.filter(isExchange) })
}

test('one exchange serves all calls, those at the same time too', () =>
  withScript({}, async ({ client, tokens, exchanges }) => {
    await Promise.all([client.list(signal), client.list(signal), client.list(signal)])
    await client.list(signal)
    assert.equal(
      exchanges().map(({ method, headers, body }) => [method, headers.authorization, body]),
      [['POST', `Bearer ${key}`, undefined]],
    )
    assert.equal(new Set(tokens()), new Set(['Bearer token-1']))
  }))

test('a token is renewed a minute before it ends, and not earlier', async () => {
  let nowMs = 0
  await withScript({ options: { now: () => nowMs } }, async ({ client, tokens }) => {
    await client.list(signal)
    nowMs = 3_539_000
    await client.list(signal)
    nowMs = 3_541_000
    await client.list(signal)
    assert.equal(tokens(), ['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })
})

test('a token that holds a few seconds is used for half of them', async () => {
  let nowMs = 0
  const script = { exchange: (nth: number) => tokenOf(nth, 10), options: { now: () => nowMs } }
  await withScript(script, async ({ client, tokens }) => {
    await client.list(signal)
    nowMs = 4_900
    await client.list(signal)
    nowMs = 5_100
    await client.list(signal)
    assert.equal(tokens(), ['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })
})

test('after a 401 a call is sent once more with another token, a write as well', () => {
  const api = ({ headers }: Seen): Reply =>
    headers.authorization === 'Bearer token-1'
      ? { status: 401, json: { errors: ['expired'] } }
      : { json: { id: 'loadbal-new' } }
  return withScript({ api }, async ({ client, tokens, exchanges }) => {
    assert.is(await client.create({ name: 'edge', location: 'da' }, signal), 'loadbal-new')
    assert.equal(tokens(), ['Bearer token-1', 'Bearer token-2'])
    assert.is(exchanges().length, 2)
  })
})

test('calls that are refused at the same time share one new token', () => {
  const api = ({ headers }: Seen): Reply =>
    headers.authorization === 'Bearer token-1' ? { status: 401, json: {}, afterMs: 20 } : { json: { pools: [] } }
  return withScript({ api }, async ({ client, exchanges }) => {
    await Promise.all([client.pools(signal), client.pools(signal), client.pools(signal)])
    assert.is(exchanges().length, 2)
  })
})

test('a second 401 is an error of the credentials, and no third call is sent', () => {
  const api = (): Reply => ({ status: 401, json: { errors: ['no rights for token-2 of the-api-key'] } })
  return withScript({ api }, async ({ client, tokens }) => {
    const { fault, message } = await cloudErrorOf(client.list(signal))
    assert.is(fault, 'auth')
    assert.match(message, 'check that the API key is valid')
    assert.not.match(message, 'token-2')
    assert.is(tokens().length, 2)
  })
})

test('an API key that is not exchanged fails the call, which is not sent; the message does not show the key', () => {
  const exchange = (): Reply => ({ status: 401, json: { errors: [`unknown key ${key}`] } })
  return withScript({ exchange }, async ({ client, tokens }) => {
    const { fault, outcome, message } = await cloudErrorOf(client.create({ name: 'edge', location: 'da' }, signal))
    assert.is(fault, 'auth')
    assert.is(outcome, 'nothing')
    assert.not.match(message, key)
    assert.equal(tokens(), [])
  })
})

test('a failed exchange is not remembered', () => {
  const exchange = (nth: number): Reply => (nth === 1 ? { status: 400, json: {} } : tokenOf(nth))
  return withScript({ exchange }, async ({ client }) => {
    assert.is((await cloudErrorOf(client.list(signal))).fault, 'invalid')
    assert.equal(await client.list(signal), [])
  })
})

test('an exchange without a token is no token', () =>
  withScript({ exchange: () => ({ json: { token_type: 'Bearer' } }) }, async ({ client, tokens }) => {
    assert.is((await cloudErrorOf(client.list(signal))).fault, 'unavailable')
    assert.equal(tokens(), [])
  }))

test('a create without an answer may have created a load balancer, and is sent once', () =>
  withScript({ api: () => 'cut' }, async ({ client, tokens }) => {
    const { outcome } = await cloudErrorOf(client.create({ name: 'edge', location: 'da' }, signal))
    assert.is(outcome, 'unknown')
    assert.is(tokens().length, 1)
  }))

test('a create that is answered without an id may have created one too', () =>
  withScript({ api: () => ({ json: { message: 'success' } }) }, async ({ client }) => {
    assert.is((await cloudErrorOf(client.create({ name: 'edge', location: 'da' }, signal))).outcome, 'unknown')
  }))

for (const json of [
  { errors: ['load balancer limit reached'] },
  { errors: [{ message: 'load balancer limit reached' }] },
]) {
  test(`the limit of the project is its own fault: ${JSON.stringify(json)}`, () =>
    withScript({ api: () => ({ status: 400, json }) }, async ({ client }) => {
      const { fault, message, outcome } = await cloudErrorOf(client.create({ name: 'edge', location: 'da' }, signal))
      assert.equal([fault, outcome], ['quota', 'nothing'])
      assert.match(message, 'load balancer limit reached; delete load balancers that are not used')
    }))
}

test('a metro without load balancers is refused before any call', () =>
  withScript({}, async ({ client, tokens, exchanges }) => {
    const { message } = await cloudErrorOf(client.create({ name: 'edge', location: 'fr' }, signal))
    assert.match(message, '"fr" is not one of its metros: am, da, dc, ny, sg, sv')
    assert.equal([tokens(), exchanges()], [[], []])
  }))

test('an empty id reaches no route of another object', () =>
  withScript({}, async ({ client, tokens }) => {
    assert.is((await cloudErrorOf(client.remove('', signal))).fault, 'invalid')
    assert.is((await cloudErrorOf(client.removePool('', signal))).fault, 'invalid')
    assert.equal(tokens(), [])
  }))

test('a list that is none, or has an item without an id, is an error and not an empty list', async () => {
  for (const json of [{}, { loadbalancers: null }, { loadbalancers: [{ name: 'edge' }] }]) {
    await withScript({ api: () => ({ json }) }, async ({ client }) => {
      assert.is((await cloudErrorOf(client.list(signal))).fault, 'unavailable')
    })
  }
})

test('a proxy that answers 404 proves nothing', () =>
  withScript({ api: () => ({ status: 404, text: '<html>' }) }, async ({ client }) => {
    assert.is((await cloudErrorOf(client.get('loadbal-x', signal))).fault, 'unavailable')
  }))

test('pools belong to ports by their place, and ids may be in the port as well', () => {
  const api = (): Reply => ({
    json: {
      id: 'loadbal-x',
      name: 'edge',
      ips: ['203.0.113.91', '203.0.113.90', 'nonsense'],
      location: { id: 'lctnloc-Vy-1Qpw31mPi6RJQwVf9A', name: 'NY' },
      ports: [
        { id: 'loadprt-1', number: 443 },
        { id: 'loadprt-2', number: 80, pool_ids: ['loadpol-9'] },
      ],
      pools: [[{ id: 'loadpol-1' }, { id: 'loadpol-2' }]],
    },
  })
  return withScript({ api }, async ({ client }) => {
    assert.equal(await client.get('loadbal-x', signal), {
      id: 'loadbal-x',
      name: 'edge',
      createdAt: undefined,
      location: 'ny',
      addresses: ['203.0.113.90', '203.0.113.91'],
      ports: [
        { id: 'loadprt-1', number: 443, pools: ['loadpol-1', 'loadpol-2'] },
        { id: 'loadprt-2', number: 80, pools: ['loadpol-9'] },
      ],
    })
  })
})

test.run()
