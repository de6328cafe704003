import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, type Json, project, within, withCherry } from './cherry-fixture.ts'

const servers = `/projects/${project}/servers`
const order = { plan: 'B1-4-4gb-80s-shared', region: 'LT-Siauliai', hostname: 'worker-9' }

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
