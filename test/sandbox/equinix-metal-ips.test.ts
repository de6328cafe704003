import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, listIn, project, withMetal } from './metal-fixture.ts'

const ips = `/projects/${project}/ips`
const order = { type: 'public_ipv4', quantity: 1, metro: 'da' }
const without = (name: string) => Object.fromEntries(Object.entries(order).filter(([key]) => key !== name))

const requests: { name: string; sent: Json; status: number; unknownLocation?: '422' }[] = [
  { name: 'a public address in a metro is granted', sent: order, status: 201 },
  { name: 'a metro may be written in capitals', sent: { ...order, metro: 'DA' }, status: 201 },
  { name: 'a public address in a facility is granted', sent: { ...without('metro'), facility: 'da11' }, status: 201 },
  { name: 'a block of 256 is granted', sent: { ...order, quantity: 256 }, status: 201 },
  { name: 'a global address needs no location', sent: { type: 'global_ipv4', quantity: 1 }, status: 201 },
  { name: 'more than four global addresses are refused', sent: { type: 'global_ipv4', quantity: 8 }, status: 422 },
  { name: 'a global address with a metro is refused', sent: { ...order, type: 'global_ipv4' }, status: 422 },
  { name: 'a request without type is refused', sent: without('type'), status: 422 },
  { name: 'a request without quantity is refused', sent: without('quantity'), status: 422 },
  { name: 'a request without a location is refused', sent: without('metro'), status: 422 },
  { name: 'metro and facility together are refused', sent: { ...order, facility: 'da11' }, status: 422 },
  { name: 'a quantity that is not a power of two is refused', sent: { ...order, quantity: 3 }, status: 422 },
  { name: 'a quantity of 0 is refused', sent: { ...order, quantity: 0 }, status: 422 },
  { name: 'more than 256 addresses are refused', sent: { ...order, quantity: 512 }, status: 422 },
  { name: 'an unknown type is refused', sent: { ...order, type: 'public_ipv5' }, status: 422 },
  {
    name: 'a private block is refused: only the vendor creates them',
    sent: { ...order, type: 'private_ipv4' },
    status: 422,
  },
  { name: 'tags that are not a list are refused', sent: { ...order, tags: 'a' }, status: 422 },
  { name: 'an unknown metro gets 404', sent: { ...order, metro: 'zz' }, status: 404 },
  { name: 'an unknown facility gets 404', sent: { ...without('metro'), facility: 'zz9' }, status: 404 },
  {
    name: 'an unknown metro may get 422 instead',
    sent: { ...order, metro: 'zz' },
    status: 422,
    unknownLocation: '422',
  },
]

for (const { name, sent, status, unknownLocation } of requests)
  test(`a reservation: ${name}`, () =>
    withMetal({ unknowns: { ...(unknownLocation && { unknownLocation }) }, quota: 512 }, async ({ call }) => {
      const answer = await call(`POST ${ips}`, sent)
      assert.is(answer.status, status, answer.text)
      if (status === 201) assert.is(answer.body['state'], 'created')
      else assert.ok(listIn(answer.body, 'errors').length > 0)
    }))

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'PATCH replaces the whole list of tags, and keeps fields that it does not contain',
    async check({ call, reserve }) {
      const { id } = await reserve({ tags: ['a', 'b'], details: 'kept' })
      const { status, body } = await call(`PATCH /ips/${String(id)}`, { tags: ['c'] })
      assert.is(status, 200)
      assert.equal([body['tags'], body['details']], [['c'], 'kept'])
    },
  },
  {
    name: 'over the quota a fail-fast request gets 422, and any other waits for a review',
    async check({ metal, call, reserve }) {
      metal.control.quota.set(2)
      await reserve({ quantity: 2 })
      assert.is((await call(`POST ${ips}`, { ...order, fail_on_approval_required: true })).status, 422)
      const waiting = await reserve()
      assert.equal([waiting['state'], waiting['address'], waiting['cidr']], ['pending', null, null])
      assert.is((await reserve({ type: 'global_ipv4', metro: undefined }))['state'], 'created')
    },
  },
  {
    name: 'a late grant happens after the given time',
    async check({ metal, clock, call, reserve }) {
      metal.control.setGrants({ mode: 'late', afterMs: 3000 })
      const { id, state } = await reserve({ fail_on_approval_required: true })
      assert.is(state, 'pending')
      clock.now += 2999
      assert.is((await call(`GET /ips/${String(id)}`)).body['state'], 'pending')
      clock.now += 1
      assert.is((await call(`GET /ips/${String(id)}`)).body['state'], 'created')
    },
  },
  {
    name: 'each spelling of the type filter works, and no list shows blocks of single devices',
    async check({ call, reserve, device }) {
      device()
      const mine = await reserve()
      const anywhere = await reserve({ type: 'global_ipv4', metro: undefined })
      const list = async (query: string) => idsIn((await call(`GET ${ips}${query}`)).body, 'ip_addresses')
      assert.equal(await list('?types=public_ipv4'), [mine['id']])
      assert.equal(await list('?type=public_ipv4'), [mine['id']])
      assert.equal(await list('?types=public_ipv4,global_ipv4'), [anywhere['id'], mine['id']])
      assert.equal(await list('?types=public_ipv4&types=global_ipv4'), [anywhere['id'], mine['id']])
      assert.is((await list('')).length, 4)
      assert.is((await list('?types=private_ipv4')).length, 1)
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test('a list without types may show only public and global addresses', () =>
  withMetal({ unknowns: { typesByDefault: 'public-and-global' } }, async ({ call, reserve, device }) => {
    device()
    const { id } = await reserve()
    assert.equal(idsIn((await call(`GET ${ips}`)).body, 'ip_addresses'), [id])
  }))

test('of a type filter that is repeated only the last may count', () =>
  withMetal({ unknowns: { repeatedTypes: 'last' } }, async ({ call, reserve }) => {
    const { id } = await reserve()
    const anywhere = await reserve({ type: 'global_ipv4', metro: undefined })
    const list = async (query: string) => idsIn((await call(`GET ${ips}?${query}`)).body, 'ip_addresses')
    assert.equal(await list('types=public_ipv4&types=global_ipv4'), [anywhere['id']])
    assert.equal(await list('types=public_ipv4,global_ipv4'), [anywhere['id'], id])
  }))

test.run()
