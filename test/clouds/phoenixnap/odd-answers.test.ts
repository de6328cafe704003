// Answers that the simulated cloud never gives, and that prove nothing.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { phoenixnap } from '../../../clouds/phoenixnap/client.ts'
import { tagsOf } from '../../../clouds/phoenixnap/tags.ts'
import { asked, type Routes, withClient } from '../scripted-routes.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { location, routes } from './stage.ts'

type Client = ReturnType<typeof phoenixnap>

const options = {
  clientId: 'id',
  apiKey: { reveal: () => 's3cret' },
  location,
  peerAsn: 65_400,
  createsPeerGroup: true,
}
const token = { [routes.token]: { json: { access_token: 'token', expires_in: 300 } } }

/** A client before a server that grants tokens, and what it asked for beside that. */
const withRoutes = <T>(given: Routes, use: (client: Client, seen: () => string[]) => Promise<T>) =>
  withClient(
    (url) => phoenixnap({ ...options, userAgent: 'test', baseUrl: url, authUrl: url, retryDelayMs: 1 }),
    { ...token, ...given },
    (client, seen) => use(client, () => asked(seen).filter((one) => one !== routes.token)),
  )

const marks = { usage: 'u', cluster: 'c' }
const block = (changes: Record<string, unknown> = {}) => ({
  id: 'a',
  cidr: '203.0.113.0/31',
  status: 'unassigned',
  location,
  tags: tagsOf(marks),
  createdOn: '2026-01-01T00:00:00Z',
  ...changes,
})
const names = tagsOf(marks).map(({ name }, n) => ({ id: `t${n}`, name }))
const getBlock = 'GET /ips/v1/ip-blocks/a'
const getServer = 'GET /bmc/v1/servers/a'

test('a list with an item that has no id proves of nothing that it no longer exists', async () => {
  const list = { json: [block({ id: 'b' }), { status: 'assigned' }] }
  const gone: Reply = { status: 404, json: { message: 'not found' } }
  const given = { [routes.list]: list, [routes.machines]: list, [getBlock]: gone, [getServer]: gone }
  await withRoutes(given, async (client) => {
    const reads = [
      client.reservations({}, neverAborted),
      client.reservation('a', neverAborted),
      client.release({ id: 'a', marks: {} }, neverAborted),
      client.machines(neverAborted),
      client.machine('a', neverAborted),
    ]
    for (const error of await Promise.all(reads.map(cloudErrorOf))) assert.is(error.fault, 'unavailable')
  })
})

test('tags that name two clusters name none, and the block stays', async () => {
  const both = block({ tags: [...tagsOf(marks), ...tagsOf({ cluster: 'd' })] })
  await withRoutes({ [getBlock]: { json: both }, [routes.list]: { json: [both] } }, async (client, seen) => {
    for (const cluster of ['c', 'd']) {
      assert.equal(await client.reservations({ cluster }, neverAborted), [])
      await client.release({ id: 'a', marks: { cluster } }, neverAborted)
    }
    assert.equal((await client.reservation('a', neverAborted))?.marks, { usage: 'u' })
    assert.not.ok(seen().some((call) => call.startsWith('DELETE')))
  })
})

test('the peers are those of the peer group of the location, whatever else the list has', async () => {
  const group = (at: string, asn: number) => ({
    id: at,
    location: at,
    password: 'Passw0rd',
    peeringLoopbacksV4: ['169.254.247.0', '169.254.247.1'],
    activeAsnDetails: { asn },
  })
  for (const [others, asn] of [
    [[group('XXX', 65_500), group(location, 65_401)], 65_401],
    [[group('XXX', 65_500)], undefined],
  ] as const) {
    const given = { 'GET /networks/v1/bgp-peer-groups': { json: [...others] } }
    await withRoutes(given, async (client) => assert.is((await client.peering.project(neverAborted))?.asn, asn))
  }
})

test('an answer about another block is no answer, and nothing is deleted or marked', async () => {
  await withRoutes({ [getBlock]: { json: block({ id: 'b' }) } }, async (client, seen) => {
    const calls = [
      client.reservation('a', neverAborted),
      client.release({ id: 'a', marks: {} }, neverAborted),
      client.mark({ id: 'a', marks: {} }, { cluster: 'two' }, neverAborted),
    ]
    for (const error of await Promise.all(calls.map(cloudErrorOf)))
      assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
    assert.equal(new Set(seen()), new Set([getBlock]))
  })
})

test('where the provider refuses to look for a tag, the blocks of the cluster are found in the whole list', async () => {
  const list: Routes[string] = ({ query }) =>
    query.has('tag')
      ? { status: 400, json: { message: 'unknown filter' } }
      : { json: [block(), block({ id: 'b', tags: tagsOf({ ...marks, cluster: 'd' }) })] }
  await withRoutes({ [routes.list]: list }, async (client) => {
    const found = await client.reservations(marks, neverAborted)
    assert.equal(
      found.map(({ id }) => id),
      ['a'],
    )
  })
})

for (const reply of [{ status: 201 }, { status: 201, json: {} }, { status: 201, json: { id: 'a' } }] as Reply[])
  test(`after ${JSON.stringify(reply)} a block may have been bought`, async () => {
    await withRoutes({ [routes.tags]: { json: names }, [routes.reserve]: reply }, async (client, seen) => {
      const error = await cloudErrorOf(client.reserve({ location, marks }, neverAborted))
      assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
      assert.equal(seen(), [routes.tags, routes.reserve])
    })
  })

const group = { id: 'g', activeAsnDetails: { asn: 65_401 }, password: 'hush', peeringLoopbacksV4: ['169.254.247.0'] }
for (const changes of [{ password: null }, { peeringLoopbacksV4: [] }])
  test(`BGP is not off, and no machine without peers, by a peer group with ${JSON.stringify(changes)}`, async () => {
    const server = { id: 'a', hostname: 'node-1', status: 'powered-on', location, publicIpAddresses: ['198.51.100.1'] }
    const given = { [routes.peerGroups]: { json: [{ ...group, ...changes }] }, [routes.machines]: { json: [server] } }
    await withRoutes(given, async ({ peering }) => {
      const reads = [peering.project(neverAborted), peering.machines(neverAborted), peering.peers('a', neverAborted)]
      for (const error of await Promise.all(reads.map(cloudErrorOf))) {
        assert.is(error.fault, 'unavailable')
        assert.match(error.message, 'without its loopbacks or its password')
      }
    })
  })

test.run()
