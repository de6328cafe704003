// Answers that the simulated cloud never gives, and that prove nothing.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { scaleway } from '../../../clouds/scaleway/client.ts'
import { asked, type Routes, withClient } from '../scripted-routes.ts'
import { cloudErrorOf, neverAborted, type Reply, type Seen } from '../scripted-server.ts'
import { project, zone } from './stage.ts'

type Client = ReturnType<typeof scaleway>

const options = { apiKey: { reveal: () => 'key' }, projectId: project, zone, userAgent: 'test' }
const withRoutes = <T>(routes: Routes, use: (client: Client, seen: Seen[]) => Promise<T>) =>
  withClient((baseUrl) => scaleway({ ...options, baseUrl, retryDelayMs: 1, pollMs: 1 }), routes, use)

const fips = `/flexible-ip/v1alpha1/zones/${zone}/fips`
const servers = `/baremetal/v1/zones/${zone}/servers`
const notFound: Reply = { status: 404, json: { message: 'resource is not found', type: 'not_found' } }
const addresses = (...items: object[]): Reply => ({ json: { flexible_ips: items, total_count: items.length } })
const machines = (...items: object[]): Reply => ({ json: { servers: items, total_count: items.length } })
const address = (changes: Record<string, unknown> = {}) => ({
  id: 'ip',
  ip_address: '203.0.113.7',
  status: 'ready',
  tags: [],
  server_id: null,
  zone,
  ...changes,
})
const server = (changes: Record<string, unknown> = {}) => ({
  id: 'server',
  name: 'node-1',
  status: 'ready',
  zone,
  ips: [],
  ...changes,
})

/** Every list, with its path. */
const lists: { path: string; read: (client: Client) => Promise<unknown> }[] = [
  { path: fips, read: (client) => client.reservations({}, neverAborted) },
  { path: fips, read: (client) => client.assignments.assignedAddresses(undefined, neverAborted) },
  { path: servers, read: (client) => client.machines(neverAborted) },
]

for (const { name, json } of [
  { name: 'without a total', json: { flexible_ips: [address()], servers: [server()] } },
  { name: 'without its items', json: { total_count: 0 } },
])
  test(`a list ${name} is an error, not the whole list`, async () => {
    for (const { path, read } of lists)
      await withRoutes({ [`GET ${path}`]: { json } }, async (client) => {
        const error = await cloudErrorOf(read(client))
        assert.is(error.fault, 'unavailable')
        assert.match(error.message, 'did not return the whole list')
      })
  })

const none: { name: string; reply: Reply }[] = [
  { name: 'an answer that is empty', reply: { json: {} } },
  { name: 'an answer without its address', reply: { json: address({ ip_address: null }) } },
  { name: 'an answer without a body', reply: { status: 200 } },
]
for (const { name, reply } of none)
  test(`an address is not gone by ${name}`, async () => {
    await withRoutes({ [`GET ${fips}/ip`]: reply }, async (client, seen) => {
      const looks = [
        client.reservation('ip', neverAborted),
        client.release({ id: 'ip', marks: {} }, neverAborted),
        client.assignments.assignedAddress('ip', neverAborted),
      ]
      for (const error of await Promise.all(looks.map(cloudErrorOf))) assert.is(error.fault, 'invalid')
      assert.equal(new Set(asked(seen)), new Set([`GET ${fips}/ip`]))
    })
  })

for (const reply of [{ status: 200 }, { json: {} }, { json: { id: 'ip' } }] as Reply[])
  test(`after ${JSON.stringify(reply)} an address may have been bought`, async () => {
    await withRoutes({ [`POST ${fips}`]: reply }, async (client, seen) => {
      const error = await cloudErrorOf(client.reserve({ location: zone, marks: { usage: 'u' } }, neverAborted))
      assert.equal([error.fault, error.outcome, seen.length], ['unavailable', 'unknown', 1])
    })
  })

test('a machine that answers 404 is not gone while the list has it', async () => {
  const routes = { [`GET ${servers}/server`]: notFound, [`GET ${servers}`]: machines(server()) }
  await withRoutes(routes, async (client) => {
    const error = await cloudErrorOf(client.machine('server', neverAborted))
    assert.is(error.fault, 'unavailable')
    assert.match(error.message, '404 although the list has server')
  })
})

for (const status of ['error', 'out_of_stock', 'locked', null])
  test(`a machine in the state ${String(status)} is neither on nor off`, async () => {
    await withRoutes({ [`GET ${servers}/server`]: { json: server({ status }) } }, async (client) => {
      assert.is((await cloudErrorOf(client.machine('server', neverAborted))).fault, 'unavailable')
    })
  })

for (const status of ['locked', 'unknown'])
  test(`an address in the status ${status} is on the machine that the provider names, and is not deleted`, async () => {
    const shown = address({ status, server_id: 'server', tags: ['eip-admission.dev/usage=u'] })
    const routes: Routes = { [`GET ${fips}/ip`]: { json: shown }, [`DELETE ${fips}/ip`]: { status: 204 } }
    await withRoutes(routes, async (client, seen) => {
      assert.equal((await client.assignments.assignedAddress('ip', neverAborted))?.machines, ['server'])
      const error = await cloudErrorOf(client.release({ id: 'ip', marks: {} }, neverAborted))
      assert.is(error.fault, 'conflict')
      assert.match(error.message, 'is assigned to server server, so it is not deleted')
      assert.not(asked(seen).includes(`DELETE ${fips}/ip`))
    })
  })

test('an address that is on its way to a machine is taken from it, once it is there', async () => {
  const changing = address({ status: 'updating' })
  const attached = address({ status: 'attached', server_id: 'server' })
  const shown = [changing, changing, attached, address()]
  const routes: Routes = {
    [`GET ${fips}/ip`]: { json: changing },
    [`GET ${fips}`]: () => addresses(shown.shift() ?? address()),
    [`POST ${fips}/detach`]: { json: {} },
  }
  await withRoutes(routes, async ({ assignments }, seen) => {
    await assignments.unassign({ id: 'ip', marks: {} }, { signal: neverAborted, writeMs: () => 2_000 })
    assert.equal(asked(seen).slice(-2), [`POST ${fips}/detach`, `GET ${fips}`])
  })
})

test.run()
