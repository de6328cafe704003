import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { callApi, type Json } from './call-api.ts'
import { type Fixture, listIn, otherProject, project, withMetal } from './metal-fixture.ts'

const dallas = 'lctnloc--uxs0GLeAELHKV8GxO_AI'

/** Calls the API of load balancers with a fresh token of an API key. */
async function clientOf({ metal }: Pick<Fixture, 'metal'>, key = 'full') {
  const exchange = async () => {
    const auth = { authorization: `Bearer ${key}` }
    return callApi({ url: metal.url, route: 'POST /iam/api-keys/exchange', body: undefined, auth })
  }
  const { body } = await exchange()
  const auth = { authorization: `Bearer ${String(body['access_token'])}` }
  const call = (route: string, sent?: unknown) => callApi({ url: `${metal.url}/lb`, route, body: sent, auth })
  const id = async (route: string, sent: unknown) => {
    const answer = await call(route, sent)
    assert.is(answer.status, 200, answer.text)
    return String(answer.body['id'])
  }
  return {
    exchange,
    call,
    balancer: (name = 'edge', more: Json = {}) =>
      id(`POST /v1/projects/${project}/loadbalancers`, { name, location_id: dallas, ...more }),
    pool: (name = 'pool') => id(`POST /v1/projects/${project}/loadbalancers/pools`, { name, protocol: 'tcp' }),
    port: (balancer: string, number: number, pools: string[] = []) =>
      id(`POST /v1/loadbalancers/${balancer}/ports`, { name: `port-${number}`, number, pool_ids: pools }),
    origin: (pool: string, target = '198.51.100.11') =>
      id(`POST /v1/loadbalancers/pools/${pool}/origins`, { name: 'origin', target, port_number: 31_443 }),
  }
}

test('an API key is exchanged for a token that ends, and that no answer to another key is', () =>
  withMetal({}, async ({ metal, clock }) => {
    const { exchange, call } = await clientOf({ metal })
    const { status, body } = await exchange()
    assert.is(status, 200)
    assert.equal([body['token_type'], body['expires_in']], ['Bearer', 3600])
    assert.is((await call(`GET /v1/projects/${project}/loadbalancers`)).status, 200)
    clock.now += 3_600_000
    assert.is((await call(`GET /v1/projects/${project}/loadbalancers`)).status, 401)
    assert.is((await (await clientOf({ metal }, 'wrong')).exchange()).status, 401)
  }))

test('the API key alone is no token, and a token of one project shows no other', () =>
  withMetal({}, async ({ metal }) => {
    const auth = { authorization: 'Bearer full' }
    const route = `GET /v1/projects/${project}/loadbalancers`
    assert.is((await callApi({ url: `${metal.url}/lb`, route, body: undefined, auth })).status, 401)
    const { call } = await clientOf({ metal })
    assert.is((await call(`GET /v1/projects/${otherProject}/loadbalancers`)).status, 404)
  }))

test('revoked tokens get 401, and a key that may only read gets 403 for a write', () =>
  withMetal({}, async ({ metal }) => {
    const owner = await clientOf({ metal })
    metal.control.balancers.revokeTokens()
    assert.is((await owner.call(`GET /v1/projects/${project}/loadbalancers`)).status, 401)
    const { call } = await clientOf({ metal }, 'reader')
    assert.is((await call(`GET /v1/projects/${project}/loadbalancers`)).status, 200)
    assert.is(
      (await call(`POST /v1/projects/${project}/loadbalancers`, { name: 'x', location_id: dallas })).status,
      403,
    )
  }))

test('a load balancer has its ids in the form of the vendor, and no addresses while it is built', () =>
  withMetal({}, async ({ metal, clock }) => {
    metal.control.balancers.set({ buildMs: 3000 })
    const { call, balancer } = await clientOf({ metal })
    const id = await balancer()
    assert.match(id, /^loadbal-[A-Za-z0-9_-]{21}$/)
    const building = (await call(`GET /v1/loadbalancers/${id}`)).body
    assert.not('ips' in building)
    assert.equal((building['location'] as Json)['id'], dallas)
    clock.now += 3000
    const built = (await call(`GET /v1/loadbalancers/${id}`)).body
    assert.match(String((built['ips'] as string[])[0]), /^\d+\.\d+\.\d+\.\d+$/)
  }))

test('the lists of pools are in the order of the ports', () =>
  withMetal({}, async ({ metal }) => {
    const { call, balancer, pool, port } = await clientOf({ metal })
    const id = await balancer()
    const pools = [await pool('first'), await pool('second'), await pool('third')]
    await port(id, 443, [pools[0] ?? '', pools[1] ?? ''])
    await port(id, 80)
    await port(id, 8080, [pools[2] ?? ''])
    const { body } = await call(`GET /v1/loadbalancers/${id}`)
    assert.equal(
      listIn(body, 'ports').map(({ number }) => number),
      [443, 80, 8080],
    )
    const ids = (body['pools'] as Json[][]).map((list) => list.map((one) => one['id']))
    assert.equal(ids, [[pools[0], pools[1]], [], [pools[2]]])
  }))

test('a deleted load balancer takes its ports along, and leaves its pools', () =>
  withMetal({}, async ({ metal }) => {
    const { call, balancer, pool, port, origin } = await clientOf({ metal })
    const [id, kept] = [await balancer(), await pool()]
    await port(id, 443, [kept])
    await origin(kept)
    assert.is((await call(`DELETE /v1/loadbalancers/${id}`)).status, 200)
    assert.is((await call(`DELETE /v1/loadbalancers/${id}`)).status, 404)
    const { body } = await call(`GET /v1/projects/${project}/loadbalancers/pools`)
    assert.equal(
      listIn(body, 'pools').map((one) => [one['id'], listIn(one, 'ports').length, listIn(one, 'origins').length]),
      [[kept, 0, 1]],
    )
  }))

test('a deleted pool takes its origins along, and its port stays without it', () =>
  withMetal({}, async ({ metal }) => {
    const { call, balancer, pool, port, origin } = await clientOf({ metal })
    const [id, gone] = [await balancer(), await pool()]
    await port(id, 443, [gone])
    const target = await origin(gone)
    await call(`DELETE /v1/loadbalancers/pools/${gone}`)
    assert.is((await call(`GET /v1/loadbalancers/pools/origins/${target}`)).status, 404)
    assert.equal((await call(`GET /v1/loadbalancers/${id}`)).body['pools'], [[]])
  }))

const refusals: { name: string; sent: Json; text: string }[] = [
  { name: 'a name of 65 characters', sent: { name: 'x'.repeat(65) }, text: 'must not be longer than 64 characters' },
  { name: 'a quote in a name', sent: { name: `it's` }, text: `must not contain the following characters: <>&'"` },
  { name: 'no name', sent: { name: '' }, text: 'must not be empty' },
  { name: 'an unknown location', sent: { location_id: 'lctnloc-nowhere' }, text: 'location not found' },
]
for (const { name, sent, text } of refusals) {
  test(`${name} is refused`, () =>
    withMetal({}, async ({ metal }) => {
      const { call } = await clientOf({ metal })
      const body = { name: 'edge', location_id: dallas, ...sent }
      const answer = await call(`POST /v1/projects/${project}/loadbalancers`, body)
      assert.is(answer.status, 422)
      assert.equal(answer.body['errors'], [text])
    }))
}

test('a project has at most five load balancers, and one more when one goes', () =>
  withMetal({ unknowns: { balancerErrors: 'objects', balancerRefusal: '400' } }, async ({ metal }) => {
    const { call, balancer } = await clientOf({ metal })
    const ids = [await balancer(), await balancer(), await balancer(), await balancer(), await balancer()]
    const sixth = { name: 'edge', location_id: dallas }
    const { status, body } = await call(`POST /v1/projects/${project}/loadbalancers`, sixth)
    assert.is(status, 400)
    assert.equal(body['errors'], [{ message: 'load balancer limit reached' }])
    await call(`DELETE /v1/loadbalancers/${ids[2]}`)
    await balancer()
  }))

test('a port number is used once, in range and not restricted, and its pools exist', () =>
  withMetal({}, async ({ metal }) => {
    const { call, balancer, port } = await clientOf({ metal })
    const id = await balancer()
    await port(id, 443)
    const refusal = async (number: unknown, pools: string[] = []) => {
      const { body } = await call(`POST /v1/loadbalancers/${id}/ports`, { name: 'port', number, pool_ids: pools })
      return (body['errors'] as string[] | undefined)?.[0]
    }
    assert.is(await refusal(443), 'port number already in use')
    assert.is(await refusal(22), 'port number restricted')
    assert.is(await refusal(70_000), 'port number must be between 1 and 65535')
    assert.is(await refusal(80, ['loadpol-unknown']), 'one or more pools not found')
    assert.is(await refusal(80), undefined)
    assert.is((await call(`GET /v1/loadbalancers/${id}/ports/80`)).body['number'], 80)
  }))

test.run()
