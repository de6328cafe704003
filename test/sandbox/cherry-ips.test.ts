import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, type Json, idsIn, otherProject, project, within, withCherry } from './cherry-fixture.ts'

const ips = `/projects/${project}/ips`
const region = 'LT-Siauliai'
/** Tags of a predecessor; one value is standard base64. */
const tags = {
  usage: 'cloud-provider-cherry-auto',
  service: 'kk9Z0tq3+/=',
  cluster: '6a0d3f5e-8f0b-4b39-9f0e-1f0b7b0b6a10',
}

const orders: { name: string; sent: Json; status: number }[] = [
  { name: 'with only a region gets 201', sent: { region }, status: 201 },
  { name: 'keeps its tags unchanged', sent: { region, tags }, status: 201 },
  { name: 'with the target "0" gets 201', sent: { region, targeted_to: '0' }, status: 201 },
  { name: 'with the target 0 gets 201', sent: { region, targeted_to: 0 }, status: 201 },
  {
    name: 'with null in a field is like one without the field',
    sent: { region, targeted_to: null, routed_to: null, ptr_record: null, a_record: null, tags: null },
    status: 201,
  },
  { name: 'without a region gets 400', sent: {}, status: 400 },
  { name: 'with an unknown region gets 400', sent: { region: 'LT-Vilnius' }, status: 400 },
  { name: 'with the name of a region instead of its slug gets 400', sent: { region: 'Lithuania' }, status: 400 },
  { name: 'with a slug from before 2025 gets 400', sent: { region: 'EU-Nord-1' }, status: 400 },
  { name: 'with a slug in lower case gets 400', sent: { region: 'lt-siauliai' }, status: 400 },
  { name: 'with a list of tags gets 400', sent: { region, tags: ['a'] }, status: 400 },
  { name: 'with a tag that is not a string gets 400', sent: { region, tags: { a: 1 } }, status: 400 },
  { name: 'with an unknown target gets 404', sent: { region, targeted_to: 1 }, status: 404 },
]

for (const { name, sent, status } of orders)
  test(`an order ${name}`, () =>
    withCherry({}, async ({ call }) => {
      const { status: answered, body, text } = await call(`POST ${ips}`, sent)
      assert.is(answered, status, text)
      if (status !== 201) return assert.equal((await call(`GET ${ips}`)).list, [])
      assert.is(body['cidr'], `${String(body['address'])}/32`)
      assert.equal(body['tags'], sent['tags'] ?? {})
    }))

const absent = ['gateway', 'routed_to', 'assigned_to', 'targeted_to', 'ptr_record', 'a_record']
const path = ({ id }: Json) => `/ips/${String(id)}`
const shown = async ({ call }: Fixture, ip: Json) => (await call(`GET ${path(ip)}`)).body

const rules: { name: string; unknowns?: Partial<UnknownBehaviour>; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'fields of a floating IP that are not set are absent',
    async check({ order }) {
      const ip = await order()
      for (const field of absent) assert.is(field in ip, false, field)
    },
  },
  {
    name: 'a target sets targeted_to and routed_to, but not assigned_to',
    async check(fixture) {
      const server = fixture.server()
      const ip = await fixture.order()
      const { status, body } = await fixture.call(`PUT ${path(ip)}`, { targeted_to: String(server) })
      assert.equal([status, within(body, 'targeted_to')['id'], 'assigned_to' in body], [200, server, false])
      const { list } = await fixture.call(`GET /servers/${server}/ips`)
      const primary = list.find(({ type }) => type === 'primary-ip')
      assert.is(within(body, 'routed_to')['id'], primary?.['id'])
      assert.equal(
        list.map(({ type }) => type),
        ['primary-ip', 'private-ip', 'floating-ip'],
      )
    },
  },
  {
    name: 'one PUT moves an address from one server to another',
    async check(fixture) {
      const [from, to] = [fixture.server('a'), fixture.server('b')]
      const ip = await fixture.order({ targeted_to: from })
      await fixture.call(`PUT ${path(ip)}`, { targeted_to: to })
      assert.is(within(await shown(fixture, ip), 'targeted_to')['id'], to)
      assert.is((await fixture.call(`GET /servers/${from}/ips`)).list.length, 2)
    },
  },
  ...['0', 0].map((none) => ({
    name: `a PUT with targeted_to ${JSON.stringify(none)} removes the target`,
    async check(fixture: Fixture) {
      const ip = await fixture.order({ targeted_to: fixture.server() })
      const { body } = await fixture.call(`PUT ${path(ip)}`, { targeted_to: none })
      assert.equal(['targeted_to' in body, 'routed_to' in body], [false, false])
    },
  })),
  {
    name: 'a target in another project or region gets 400',
    async check({ cherry, call, order, server }) {
      const ip = await order()
      const elsewhere = server('far', 'NL-Amsterdam')
      const { id: foreign } = cherry.control.devices.add({ hostname: 'theirs', project: otherProject })
      for (const target of [elsewhere, foreign])
        assert.is((await call(`PUT ${path(ip)}`, { targeted_to: target })).status, 400)
    },
  },
  {
    name: 'a PUT replaces all tags, and values may be empty',
    async check(fixture) {
      const ip = await fixture.order({ tags })
      const { body } = await fixture.call(`PUT ${path(ip)}`, { tags: { 'kubernetes-ccm-test': '' } })
      assert.equal(body['tags'], { 'kubernetes-ccm-test': '' })
      assert.equal((await fixture.call(`PUT ${path(ip)}`, { tags: {} })).body['tags'], {})
    },
  },
  {
    name: 'a deleted address can still be read and listed for a while, but not changed or deleted again',
    async check({ clock, call, order }) {
      const ip = await order({ tags })
      assert.is((await call(`DELETE ${path(ip)}`)).status, 204)
      assert.equal((await call(`GET ${path(ip)}`)).body, ip)
      assert.equal((await call(`GET ${ips}`)).list, [ip])
      assert.is((await call(`DELETE ${path(ip)}`)).status, 404)
      assert.is((await call(`PUT ${path(ip)}`, { tags: {} })).status, 404)
      assert.is.not((await order())['address'], ip['address'])
      clock.now += 2000
      assert.is((await call(`GET ${path(ip)}`)).status, 404)
      assert.is((await call(`GET ${ips}`)).list.length, 1)
      assert.is((await order())['address'], ip['address'])
    },
  },
  {
    name: 'reading a removed address may get 403, and an id that never existed gets 404',
    unknowns: { goneAddress: '403' },
    async check({ clock, call, order }) {
      const ip = await order()
      await call(`DELETE ${path(ip)}`)
      assert.is((await call(`GET ${path(ip)}`)).status, 200)
      clock.now += 2000
      assert.is((await call(`GET ${path(ip)}`)).status, 403)
      assert.is((await call('GET /ips/ffffffff-ffff-4fff-8fff-ffffffffffff')).status, 404)
    },
  },
  {
    name: 'deleting an address with a target gets 400',
    async check({ call, order, server }) {
      const ip = await order({ targeted_to: server() })
      assert.is((await call(`DELETE ${path(ip)}`)).status, 400)
      await call(`PUT ${path(ip)}`, { targeted_to: 0 })
      assert.is((await call(`DELETE ${path(ip)}`)).status, 204)
    },
  },
  {
    name: 'deleting an address with a target may detach and delete it',
    unknowns: { deleteTargeted: 'detaches' },
    async check({ call, order, server }) {
      const id = server()
      assert.is((await call(`DELETE ${path(await order({ targeted_to: id }))}`)).status, 204)
      assert.is((await call(`GET /servers/${id}/ips`)).list.length, 2)
    },
  },
  {
    name: 'the list of a project includes the addresses of its servers, and can be filtered by type',
    async check({ call, order, server }) {
      server()
      const floating = await order()
      const types = async (query: string) => (await call(`GET ${ips}${query}`)).list.map(({ type }) => type)
      assert.equal(await types(''), ['primary-ip', 'private-ip', 'floating-ip'])
      assert.equal(await types('?type[]=floating-ip&type[]=subnet'), ['floating-ip'])
      assert.equal(await types('?type=primary-ip'), ['primary-ip'])
      assert.equal(idsIn((await call(`GET ${ips}?type[]=floating-ip`)).list), [floating['id']])
    },
  },
  ...(['filtered', 'all'] as const).map((filteredTotal) => ({
    name: `the length of a filtered list may be that of the ${filteredTotal} items`,
    unknowns: { filteredTotal },
    async check({ call, order, server }: Fixture) {
      server()
      await order()
      const { list, headers } = await call(`GET ${ips}?type[]=floating-ip`)
      assert.equal([list.length, headers.get('x-total-count')], [1, filteredTotal === 'all' ? '3' : '1'])
    },
  })),
  {
    name: 'an order over the quota gets 400, and an address that is being deleted still counts',
    async check({ cherry, clock, call, order }) {
      cherry.control.quota.set(1)
      const ip = await order()
      assert.is((await call(`POST ${ips}`, { region })).status, 400)
      await call(`DELETE ${path(ip)}`)
      assert.is((await call(`POST ${ips}`, { region })).status, 400)
      clock.now += 2000
      assert.is((await call(`POST ${ips}`, { region })).status, 201)
    },
  },
  {
    name: 'the quota may be four floating IPs for each server of the team',
    unknowns: { quotaRule: 'four-a-server' },
    async check({ call, server }) {
      assert.is((await call(`POST ${ips}`, { region })).status, 400)
      server()
      for (let n = 0; n < 4; n += 1) assert.is((await call(`POST ${ips}`, { region })).status, 201)
      assert.is((await call(`POST ${ips}`, { region })).status, 400)
    },
  },
  {
    name: 'lists may not show a new address for a while, but it can be read at once',
    async check({ cherry, clock, call, order }) {
      cherry.control.setListing({ afterMs: 3000 })
      const ip = await order()
      assert.is((await call(`GET ${path(ip)}`)).status, 200)
      assert.equal((await call(`GET ${ips}`)).list, [])
      clock.now += 3000
      assert.equal((await call(`GET ${ips}`)).list, [ip])
    },
  },
]

for (const { name, unknowns = {}, check } of rules) test(name, () => withCherry({ unknowns }, check))

test.run()
