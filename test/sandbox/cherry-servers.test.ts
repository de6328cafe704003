import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, type Json, idsIn, otherProject, project, within, withCherry } from './cherry-fixture.ts'

const servers = `/projects/${project}/servers`
const order = { plan: 'B1-4-4gb-80s-shared', region: 'LT-Siauliai', hostname: 'worker-9' }
const dayMs = 24 * 3600 * 1000

const orders: { name: string; sent: Json; status: number; says?: RegExp }[] = [
  { name: 'with only a plan and a region gets 201', sent: { plan: order.plan, region: order.region }, status: 201 },
  { name: 'may name the plan by its number', sent: { ...order, plan: 1095 }, status: 201 },
  {
    name: 'may have tags, SSH keys and the spot market',
    sent: { ...order, tags: { a: 'b' }, ssh_keys: [1], spot_market: true },
    status: 201,
  },
  {
    name: 'with an unknown plan gets 400',
    sent: { ...order, plan: 'cloud_vps_1' },
    status: 400,
    says: /^Given server plan was not found\.$/,
  },
  { name: 'with an unknown region gets 400', sent: { ...order, region: 'eu_nord_1' }, status: 400 },
  { name: 'with a list of tags gets 400', sent: { ...order, tags: [] }, status: 400 },
]

for (const { name, sent, status, says } of orders)
  test(`an order ${name}`, () =>
    withCherry({}, async ({ call }) => {
      const answer = await call(`POST ${servers}`, sent)
      assert.is(answer.status, status, answer.text)
      if (says) assert.match(String(answer.body['message']), says)
      if (status === 201) assert.equal([answer.body['state'], answer.body['status']], ['pending', 'deploying'])
    }))

const rules: { name: string; unknowns?: Partial<UnknownBehaviour>; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'a new server becomes active after its intermediate states',
    async check({ clock, call }) {
      const { id } = (await call(`POST ${servers}`, order)).body
      const seen = []
      for (let n = 0; n < 3; n += 1) {
        const { state, status } = (await call(`GET /servers/${String(id)}`)).body
        seen.push([state, status])
        clock.now += 1000
      }
      assert.equal(seen, [
        ['pending', 'deploying'],
        ['provisioning', 'deploying'],
        ['active', 'deployed'],
      ])
    },
  },
  {
    name: "a server has a primary address with a gateway, and a private one in the project's VLAN",
    async check({ call, server }) {
      const addresses = async (id: number) => (await call(`GET /servers/${id}`)).body['ip_addresses'] as Json[]
      const [primary = {}, lan = {}] = await addresses(server('a'))
      const [, neighbour = {}] = await addresses(server('b'))
      const [, distant = {}] = await addresses(server('c', 'NL-Amsterdam'))
      assert.equal([primary['type'], lan['type']], ['primary-ip', 'private-ip'])
      assert.match(String(primary['cidr']), /\/26$/)
      assert.match(String(primary['gateway']), /\.1$/)
      assert.is('gateway' in lan, false)
      assert.is(lan['vlan_id'], neighbour['vlan_id'])
      assert.is.not(lan['vlan_id'], distant['vlan_id'])
      for (const own of [primary, lan]) assert.equal(within(own, 'assigned_to')['id'], within(own, 'targeted_to')['id'])
    },
  },
  {
    name: '300 servers have different addresses, and none is a network, gateway or broadcast address',
    async check({ cherry, call, server }) {
      for (let n = 0; n < 300; n += 1) server(`worker-${n}`)
      const { list } = await call(`GET /projects/${project}/ips`)
      const of = (type: string) => list.filter((ip) => ip['type'] === type).map(({ address }) => String(address))
      for (const addresses of [of('primary-ip'), of('private-ip')]) assert.is(new Set(addresses).size, 300)
      for (const address of of('primary-ip'))
        assert.ok(![0, 1, 63].includes(Number(address.split('.')[3]) % 64), address)
      for (const address of of('private-ip')) assert.not.match(address, /\.(0|1|255)$/)
      assert.is(cherry.control.devices.all().length, 300)
    },
  },
  {
    name: 'for a day the API shows the secrets of a new server, also inside other objects',
    async check({ cherry, clock, call, order: floating, server }) {
      const id = server()
      const { id: metal } = cherry.control.devices.add({ hostname: 'metal', plan: 'amd-ryzen-9950x' })
      await floating({ targeted_to: id })
      const texts = async () => {
        const paths = [`/servers/${id}`, `/servers/${String(metal)}`, servers, `/projects/${project}/ips`]
        return await Promise.all(paths.map(async (path) => (await call(`GET ${path}`)).text))
      }
      for (const text of await texts()) assert.match(text, /"password":"\w+-s3cret-\d+"/)
      assert.equal((await call(`GET /servers/${String(metal)}`)).body['username'], undefined)
      clock.now += dayMs
      for (const text of await texts()) assert.not.match(text, /password|s3cret|username/)
    },
  },
  {
    name: 'a search finds servers by hostname and public address, not by private address',
    async check({ call, server }) {
      const [first, second] = [server('edge-1'), server('edge-2')]
      const found = async (phrase: string) => idsIn((await call(`GET ${servers}?search=${phrase}`)).list)
      const [primary = {}, lan = {}] = (await call(`GET /servers/${second}/ips`)).list
      assert.equal(await found('edge'), [first, second])
      assert.equal(await found(String(primary['address'])), [second])
      assert.equal(await found(String(lan['address'])), [])
    },
  },
  {
    name: 'the list of a project shows its own servers with all fields',
    async check({ cherry, call, server }) {
      const id = server()
      cherry.control.devices.add({ hostname: 'theirs', project: otherProject })
      const { list } = await call(`GET ${servers}`)
      assert.equal(list, [(await call(`GET /servers/${id}`)).body])
    },
  },
  {
    name: 'a PUT gets 201 without the addresses, and keeps fields that it does not contain',
    async check({ call, server }) {
      const id = server()
      await call(`PUT /servers/${id}`, { tags: { env: 'prod', zone: 'a' } })
      const { status, body } = await call(`PUT /servers/${id}`, { hostname: 'renamed', name: null })
      assert.equal([status, body['hostname'], body['tags']], [201, 'renamed', { env: 'prod', zone: 'a' }])
      assert.is('ip_addresses' in body, false)
      assert.equal(within(within(body, 'region'), 'bgp')['asn'], 16125)
      assert.equal((await call(`PUT /servers/${id}`, { tags: { env: 'test' } })).body['tags'], { env: 'test' })
      assert.is((await call(`PUT /servers/${id}`, {})).status, 201)
      assert.is((await call(`PUT /servers/${id}`, { bgp: 'yes' })).status, 400)
    },
  },
  ...['power_off', 'power-off'].map((type) => ({
    name: `${type} changes only the field power of a server`,
    async check({ call, server }: Fixture) {
      const id = server()
      const before = (await call(`GET /servers/${id}`)).text
      assert.is((await call(`POST /servers/${id}/actions`, { type })).status, 201)
      assert.equal((await call(`GET /servers/${id}?fields=power`)).body, { power: 'off' })
      assert.is((await call(`GET /servers/${id}`)).text, before)
      await call(`POST /servers/${id}/actions`, { type: type.replace('off', 'on') })
      assert.equal((await call(`GET /servers/${id}?fields=power`)).body, { power: 'on' })
    },
  })),
  {
    name: 'a server that is switched off may be inactive',
    unknowns: { stateWhenOff: 'inactive' },
    async check({ cherry, call, server }) {
      const id = server()
      cherry.control.devices.powerOff(String(id))
      assert.is((await call(`GET /servers/${id}`)).body['state'], 'inactive')
      cherry.control.devices.powerOn(String(id))
      assert.is((await call(`GET /servers/${id}`)).body['state'], 'active')
    },
  },
  {
    name: 'a server can be reinstalled, and enter and leave rescue mode',
    async check({ clock, call, server }) {
      const id = server()
      const after = async (type: string) => (await call(`POST /servers/${id}/actions`, { type })).body['status']
      assert.is(await after('enter-rescue-mode'), 'rescue mode')
      assert.is(await after('exit-rescue-mode'), 'deployed')
      assert.is(await after('rebuild'), 'deploying')
      clock.now += 2000
      assert.is((await call(`GET /servers/${id}`)).body['status'], 'deployed')
      assert.is((await call(`POST /servers/${id}/actions`, { type: 'explode' })).status, 400)
      assert.is((await call(`POST /servers/${id}/actions`, {})).status, 400)
    },
  },
  {
    name: 'a deleted server disappears at once with its own addresses; a floating IP stays without a target',
    async check({ call, order: floating, server }) {
      const id = server()
      const ip = await floating({ targeted_to: id })
      const [primary] = (await call(`GET /servers/${id}/ips`)).list
      assert.is((await call(`DELETE /servers/${id}`)).status, 204)
      assert.is((await call(`GET /servers/${id}`)).status, 404)
      assert.is((await call(`GET /ips/${String(primary?.['id'])}`)).status, 404)
      const left = (await call(`GET /ips/${String(ip['id'])}`)).body
      assert.equal(['targeted_to' in left, 'routed_to' in left], [false, false])
    },
  },
  {
    name: 'a deleted server may be terminating for a while',
    async check({ cherry, clock, call, server }) {
      cherry.control.setDeletion({ devicesMs: 5000 })
      const id = server()
      await call(`DELETE /servers/${id}`)
      assert.is((await call(`GET /servers/${id}`)).body['state'], 'terminating')
      assert.is((await call(`DELETE /servers/${id}`)).status, 400)
      clock.now += 5000
      assert.is((await call(`GET /servers/${id}`)).status, 404)
    },
  },
]

for (const { name, unknowns = {}, check } of rules) test(name, () => withCherry({ unknowns }, check))

test.run()
