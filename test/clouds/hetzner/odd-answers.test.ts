// Answers that the simulated cloud never gives, and that prove nothing.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hetzner } from '../../../clouds/hetzner/client.ts'
import { asked, type Routes, withClient } from '../scripted-routes.ts'
import { cloudErrorOf, neverAborted, type Reply, type Seen } from '../scripted-server.ts'

type Client = ReturnType<typeof hetzner>

const withRoutes = <T>(routes: Routes, use: (client: Client, seen: Seen[]) => Promise<T>) =>
  withClient(
    (baseUrl) => hetzner({ apiKey: { reveal: () => 'key' }, userAgent: 'test', baseUrl, retryDelayMs: 1 }),
    routes,
    use,
  )

const refusal = (status: number, code: string): Reply => ({ status, json: { error: { code, message: 'No' } } })
const page = (field: string, items: object[], next?: number): Reply => ({
  json: { [field]: items, meta: { pagination: { next_page: next ?? null, total_entries: items.length } } },
})
const floatingIp = (changes: Record<string, unknown> = {}) => ({
  id: 7,
  ip: '203.0.113.7',
  home_location: { name: 'fsn1' },
  labels: {},
  server: null,
  blocked: false,
  created: '2026-01-01T00:00:00Z',
  ...changes,
})
const marks = { usage: 'eip-admission', service: 'one' }
const reserveOf = (client: Client) => client.reserve({ location: 'fsn1', marks, order: 'uid-2' }, neverAborted)

/** Every call that would take an address for gone. */
const looks: Record<string, (client: Client) => Promise<unknown>> = {
  reservation: (client) => client.reservation('7', neverAborted),
  release: (client) => client.release({ id: '7', marks: {} }, neverAborted),
  assignedAddress: (client) => client.assignments.assignedAddress('7', neverAborted),
}

const unproven: { name: string; reply: Reply; fault: string }[] = [
  { name: 'a 404 with another code', reply: refusal(404, 'unavailable'), fault: 'unavailable' },
  {
    name: 'a 404 of a proxy that speaks JSON',
    reply: { status: 404, json: { message: 'no route' } },
    fault: 'unavailable',
  },
  { name: 'a 404 without a body', reply: { status: 404 }, fault: 'unavailable' },
  { name: 'an answer without an address', reply: { json: { floating_ip: null } }, fault: 'invalid' },
  { name: 'an answer without a body', reply: { status: 200 }, fault: 'invalid' },
]
for (const { name, reply, fault } of unproven)
  test(`an address is not gone by ${name}`, async () => {
    for (const [call, look] of Object.entries(looks))
      await withRoutes({ 'GET /floating_ips/7': reply }, async (client, seen) => {
        const error = await cloudErrorOf(look(client))
        assert.equal([error.fault, error.outcome], [fault, 'nothing'], call)
        assert.equal(asked(seen), ['GET /floating_ips/7'], call)
      })
  })

for (const { name, reply } of unproven.filter(({ fault }) => fault === 'unavailable'))
  test(`a machine is not gone by ${name}, although the project has others`, async () => {
    const routes = { 'GET /servers/5': reply, 'GET /servers': page('servers', [{ id: 6, status: 'running' }]) }
    await withRoutes(routes, async (client) => {
      assert.is((await cloudErrorOf(client.machine('5', neverAborted))).fault, 'unavailable')
    })
  })

test('a machine of which the provider does not know whether it runs is neither on nor off', async () => {
  const routes = { 'GET /servers/5': { json: { server: { id: 5, name: 'node-1', status: 'unknown' } } } }
  await withRoutes(routes, async (client) => {
    const error = await cloudErrorOf(client.machine('5', neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  })
})

for (const nth of [1, 2])
  test(`a list whose page ${nth} is none is an error, not a shorter list`, async () => {
    const reply =
      (field: string, item: object): Routes[string] =>
      ({ query }) =>
        Number(query.get('page')) < nth ? page(field, [item], 2) : { json: { meta: {} } }
    const routes = {
      'GET /floating_ips': reply('floating_ips', floatingIp()),
      'GET /servers': reply('servers', { id: 6, status: 'running' }),
    }
    await withRoutes(routes, async (client) => {
      const reads = [
        client.reservations({}, neverAborted),
        client.assignments.assignedAddresses(undefined, neverAborted),
        client.machines(neverAborted),
      ]
      for (const error of await Promise.all(reads.map(cloudErrorOf))) {
        assert.is(error.fault, 'unavailable')
        assert.match(error.message, `page ${nth} has no`)
      }
    })
  })

for (const meta of [undefined, {}, { pagination: {} }, { pagination: { total_entries: 1 } }])
  test(`a list with ${JSON.stringify(meta)} for its pages may go on, so it is an error`, async () => {
    const json = { floating_ips: [floatingIp()], servers: [{ id: 6, status: 'running' }], ...(meta && { meta }) }
    await withRoutes({ 'GET /floating_ips': { json }, 'GET /servers': { json } }, async (client) => {
      for (const read of [() => client.reservations({}, neverAborted), () => client.machines(neverAborted)])
        assert.match((await cloudErrorOf(read())).message, 'does not say whether another one follows')
    })
  })

test('after an answer without an address one may have been bought, and nobody orders another', async () => {
  await withRoutes({ 'POST /floating_ips': { status: 201, json: {} } }, async (client, seen) => {
    const error = await cloudErrorOf(reserveOf(client))
    assert.equal([error.fault, error.outcome, seen.length], ['unavailable', 'unknown', 1])
  })
})

test('an order that is made again gets its own address, not that of another order with the same marks', async () => {
  const taken: object[] = []
  const order: Routes[string] = ({ body }) => {
    const { name, labels } = body as { name: string; labels: object }
    taken.push(floatingIp({ id: 1, name: 'another order', labels }), floatingIp({ id: 2, name, labels }))
    return refusal(409, 'uniqueness_error')
  }
  const list: Routes[string] = ({ query }) => {
    const name = query.get('name')
    return page(
      'floating_ips',
      taken.filter((one) => name === null || ('name' in one && one.name === name)),
    )
  }
  await withRoutes({ 'POST /floating_ips': order, 'GET /floating_ips': list }, async (client, seen) => {
    assert.is((await reserveOf(client)).id, '2')
    assert.equal(asked(seen), ['POST /floating_ips', 'GET /floating_ips'])
  })
})

const few = { 'ratelimit-limit': '3600', 'ratelimit-remaining': '700' }
const running = { id: 1, status: 'running' }
const lastPage = { pagination: { next_page: null } }

test('while few calls are left, the reads of a move wait for no others', async () => {
  const answers: [call: string, reply: { json: unknown }][] = [
    ['GET /servers', { json: { servers: [], meta: lastPage } }],
    ['GET /floating_ips', { json: { floating_ips: [floatingIp()], meta: lastPage } }],
    ['GET /floating_ips/7', { json: { floating_ip: floatingIp() } }],
    ['POST /floating_ips/7/actions/assign', { json: { action: running } }],
    ['GET /actions', { json: { actions: [{ ...running, status: 'success' }] } }],
  ]
  const routes = Object.fromEntries(answers.map(([call, { json }]) => [call, { json, headers: few }]))
  await withRoutes(routes, async (client, seen) => {
    await client.machines(neverAborted)
    seen.length = 0
    const others = [client.machines(neverAborted), client.reservation('7', neverAborted)]
    await client.assignments.assignedAddresses(undefined, neverAborted)
    await client.assignments.move(
      { id: '7', machine: '5', from: [], marks: {} },
      { signal: neverAborted, writeMs: () => 2_000 },
    )
    assert.equal(asked(seen), ['GET /floating_ips', 'POST /floating_ips/7/actions/assign', 'GET /actions'])
    await Promise.all(others)
  })
})

test.run()
