// The client of managed load balancers against the simulated service, in each way that the vendor may answer.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EquinixMetal, startEquinixMetal } from '../../../../sandbox/clouds/equinix-metal/server.ts'
import { equinixMetalBalancers } from '../../../../clouds/equinix-metal/balancers/client.ts'
import type { Balancers } from '../../../../clouds/ports/balancers.ts'
import { Secret } from '../../../../lib/secret.ts'
import { cloudErrorOf } from '../../scripted-server.ts'

const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
const { signal } = new AbortController()

async function withClient(
  run: (of: { client: Balancers; control: EquinixMetal['control'] }) => Promise<void>,
  unknowns = {},
) {
  const metal = await startEquinixMetal({
    projects: [{ id: project }],
    tokens: [{ token: 'key', projects: [project] }],
    unknowns,
  })
  const urls = { baseUrl: `${metal.url}/lb`, tokensUrl: `${metal.url}/iam` }
  const client = equinixMetalBalancers({ apiKey: new Secret('key'), projectId: project, userAgent: 'test', ...urls })
  try {
    await run({ client, control: metal.control })
  } finally {
    await metal.close()
  }
}

test('a balancer, its port, pool and origin are created, read and deleted', () =>
  withClient(async ({ client, control }) => {
    const id = await client.create({ name: 'edge', location: 'ny' }, signal)
    const pool = await client.addPool('edge-443', signal)
    await client.addOrigin(pool, { name: 'worker', address: '198.51.100.11', port: 31_443 }, signal)
    const port = await client.addPort(id, { name: 'edge-443', number: 443, pool }, signal)
    const balancer = await client.get(id, signal)
    assert.equal(balancer?.ports, [{ id: port, number: 443, pools: [pool] }])
    assert.equal([balancer?.location, balancer?.addresses.length], ['ny', 1])
    assert.equal(
      (await client.list(signal)).map(({ name }) => name),
      ['edge'],
    )
    const [origin] = (await client.origins(pool, signal)) ?? []
    assert.equal([origin?.address, origin?.port], ['198.51.100.11', 31_443])
    await client.removeOrigin(origin?.id ?? '', signal)
    await client.removePool(pool, signal)
    await client.removePort(port, signal)
    await client.remove(id, signal)
    assert.equal([control.balancers.all(), control.balancers.pools()], [[], []])
  }))

test('what no longer exists is undefined when it is read, and deleted when it is deleted', () =>
  withClient(async ({ client }) => {
    assert.is(await client.get('loadbal-gone', signal), undefined)
    assert.is(await client.origins('loadpol-gone', signal), undefined)
    await client.remove('loadbal-gone', signal)
    await client.removePort('loadprt-gone', signal)
    await client.removePool('loadpol-gone', signal)
    await client.removeOrigin('loadogn-gone', signal)
  }))

test('every page of a list is read', () =>
  withClient(
    async ({ client }) => {
      const names = ['a', 'b', 'c', 'd', 'e']
      for (const name of names) await client.create({ name, location: 'da' }, signal)
      const pools = []
      for (const name of names) pools.push(await client.addPool(name, signal))
      const [pool = ''] = pools
      for (const [n, name] of names.entries())
        await client.addOrigin(pool, { name, address: `198.51.100.${n}`, port: 31_443 }, signal)
      assert.equal((await client.list(signal)).map(({ name }) => name).toSorted(), names)
      assert.equal((await client.pools(signal)).map(({ name }) => name).toSorted(), names)
      assert.is((await client.origins(pool, signal))?.length, names.length)
    },
    { balancerLists: 'paged' },
  ))

test('a balancer that is being built has no addresses', () =>
  withClient(async ({ client, control }) => {
    control.balancers.set({ buildMs: 60_000 })
    const id = await client.create({ name: 'edge', location: 'da' }, signal)
    assert.equal((await client.get(id, signal))?.addresses, [])
  }))

for (const unknowns of [{}, { balancerErrors: 'objects', balancerRefusal: '400' }] as const) {
  test(`refusals carry the words of the vendor: ${JSON.stringify(unknowns)}`, () =>
    withClient(async ({ client, control }) => {
      control.balancers.set({ limit: 0 })
      const limit = await cloudErrorOf(client.create({ name: 'edge', location: 'da' }, signal))
      assert.equal([limit.fault, limit.outcome], ['quota', 'nothing'])
      const name = await cloudErrorOf(client.addPool(`it's`, signal))
      assert.is(name.fault, 'invalid')
      assert.match(name.message, 'must not contain the following characters')
    }, unknowns))
}

test('revoked tokens are renewed once, and no call fails', () =>
  withClient(async ({ client, control }) => {
    await client.list(signal)
    control.balancers.revokeTokens()
    await client.addPool('edge-443', signal)
    assert.is(control.calls.count('POST /iam/api-keys/exchange'), 2)
    assert.is(control.balancers.pools().length, 1)
  }))

test.run()
