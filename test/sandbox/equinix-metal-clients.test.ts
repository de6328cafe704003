// What the vendor's clients need: its Terraform provider, packngo, equinix-sdk-go and metal-cli.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DeviceState } from '../../sandbox/clouds/equinix-metal/state.ts'
import { type Fixture, type Json, idsIn, listIn, otherProject, project, withMetal } from './metal-fixture.ts'

const devices = `/projects/${project}/devices`
const order = { plan: 'c3.small.x86', operating_system: 'ubuntu_24_04', metro: 'da', hostname: 'worker-1' }
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBYe+GfesnLP06tfLOJWLFnGIJNpgrzLYE2VZhcmrFy0 me@example.com'
const nowhere = 'ffffffff-ffff-4fff-8fff-ffffffffffff'

/** The public IPv4 address of a device. */
const publicIpv4 = (device: Json) =>
  listIn(device, 'ip_addresses').find((one) => one['public'] === true && one['address_family'] === 4)

const actions: { type: string; during: DeviceState; after: DeviceState }[] = [
  { type: 'power_off', during: 'powering_off', after: 'inactive' },
  { type: 'power_on', during: 'powering_on', after: 'active' },
  { type: 'reboot', during: 'powering_on', after: 'active' },
  { type: 'rescue', during: 'powering_on', after: 'active' },
  { type: 'reinstall', during: 'reinstalling', after: 'active' },
]

for (const { type, during, after } of actions)
  test(`the action ${type} gets 202, and a device is ${during} and then ${after}`, () =>
    withMetal({}, async ({ clock, call, device }) => {
      const id = device()
      const answer = await call(`POST /devices/${id}/actions`, { type })
      assert.equal([answer.status, answer.text], [202, ''])
      assert.is((await call(`GET /devices/${id}`)).body['state'], during)
      assert.is((await call(`POST /devices/${id}/actions`, { type })).status, 422)
      clock.now += 2000
      assert.is((await call(`GET /devices/${id}`)).body['state'], after)
      const events = listIn((await call(`GET /devices/${id}/events`)).body, 'events')
      assert.equal(
        events.map((event) => event['type']),
        [`instance.${type}`],
      )
    }))

const refused: { name: string; sent: unknown }[] = [
  { name: 'a number', sent: '7' },
  { name: 'a block outside of the reservation', sent: '203.0.113.0/30' },
  { name: 'a prefix that is too long', sent: '203.0.113.0/33' },
  { name: 'half an IPv6 address', sent: '2001:db8' },
  { name: 'an IPv6 address with two gaps', sent: '2001::db8::1' },
]

for (const { name, sent } of refused)
  test(`${name} cannot be assigned`, () =>
    withMetal({}, async ({ call, reserve, device }) => {
      await reserve({ quantity: 2 })
      assert.is((await call(`POST /devices/${device()}/ips`, { address: sent })).status, 422)
    }))

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'an action that does not exist gets 422; a reinstallation may change the operating system',
    async check({ call, device }) {
      const id = device()
      assert.is((await call(`POST /devices/${id}/actions`, { type: 'explode' })).status, 422)
      assert.is((await call(`POST /devices/${id}/actions`, {})).status, 422)
      await call(`POST /devices/${id}/actions`, { type: 'reinstall', operating_system: 'debian_12' })
      const { operating_system: system } = (await call(`GET /devices/${id}`)).body
      assert.is((system as Json)['slug'], 'debian_12')
    },
  },
  {
    name: 'capacity returns the quantity as it came, a number or a text',
    async check({ call }) {
      for (const quantity of [3, '3']) {
        const servers = [{ metro: 'da', plan: 'c3.small.x86', quantity }]
        assert.equal((await call('POST /capacity/metros', { servers })).body, {
          servers: [{ metro: 'da', plan: 'c3.small.x86', quantity, available: true }],
        })
      }
    },
  },
  {
    name: 'a metro can be full: capacity shows it, and an order gets 422 until a device is deleted',
    async check({ metal, call, device }) {
      metal.control.setRoom({ metro: 'da', plan: 'c3.small.x86', devices: 2 })
      const first = device()
      const available = async (quantity: number, place: Json = { metro: 'da' }) => {
        const route = 'metro' in place ? 'POST /capacity/metros' : 'POST /capacity'
        const { body } = await call(route, { servers: [{ ...place, plan: 'c3.small.x86', quantity }] })
        return listIn(body, 'servers')[0]?.['available']
      }
      assert.equal([await available(1), await available(2)], [true, false])
      assert.is((await call(`POST ${devices}`, order)).status, 201)
      assert.equal([await available(1), await available(1, { facility: 'da11' })], [false, false])
      const { capacity } = (await call('GET /capacity/metros')).body as { capacity: Record<string, Json> }
      assert.equal(
        [capacity['da']?.['c3.small.x86'], capacity['sv']?.['c3.small.x86']],
        [{ level: 'unavailable' }, { level: 'normal' }],
      )
      const full = await call(`POST ${devices}`, order)
      assert.is(full.status, 422)
      assert.match(full.text, /no provisionable c3\.small\.x86 servers/)
      await call(`DELETE /devices/${first}`)
      assert.is((await call(`POST ${devices}`, order)).status, 201)
    },
  },
  {
    name: 'customdata may be the text of a JSON object, on devices, reservations and assignments; userdata is text',
    async check({ call, reserve }) {
      const customdata = '{"a":{"b":1}}'
      const device = (await call(`POST ${devices}`, { ...order, customdata, userdata: '#!/bin/sh' })).body
      assert.equal(device['customdata'], { a: { b: 1 } })
      const changed = await call(`PUT /devices/${String(device['id'])}`, { customdata: '' })
      assert.equal(changed.body['customdata'], {})
      assert.equal((await call(`GET /devices/${String(device['id'])}/customdata`)).body, {})
      assert.is((await call(`GET /devices/${String(device['id'])}/userdata`)).body['userdata'], '#!/bin/sh')
      const reservation = await reserve({ customdata })
      assert.equal(reservation['customdata'], { a: { b: 1 } })
      const path = `/ips/${String(reservation['id'])}`
      assert.equal((await call(`PATCH ${path}`, { customdata: '{"c":2}' })).body['customdata'], { c: 2 })
      assert.is((await call(`PATCH ${path}`, { customdata: '{' })).status, 422)
      const wanted = { address: reservation['address'], customdata }
      const { id } = (await call(`POST /devices/${String(device['id'])}/ips`, wanted)).body
      assert.equal((await call(`GET /ips/${String(id)}/customdata`)).body, { a: { b: 1 } })
    },
  },
  {
    name: 'a /31 of a reservation can be assigned, and then none of its addresses is free',
    async check({ call, reserve, device }) {
      const [id, other] = [device(), device('worker-2')]
      const { id: reservation, network } = await reserve({ quantity: 4 })
      const { status, body } = await call(`POST /devices/${id}/ips`, { address: `${String(network)}/31` })
      assert.equal([status, body['cidr'], body['netmask'], body['network']], [201, 31, '255.255.255.254', network])
      assert.is((await call(`POST /devices/${other}/ips`, { address: network })).status, 422)
      const free = async (cidr: number) => (await call(`GET /ips/${String(reservation)}/available?cidr=${cidr}`)).body
      assert.is(listIn(await free(31), 'available').length, 1)
      assert.is(listIn(await free(32), 'available').length, 2)
      assert.is(listIn(await free(30), 'available').length, 0)
    },
  },
  {
    name: 'a /64 of the automatic IPv6 block can be assigned once, in its metro',
    async check({ call, device }) {
      const [id, elsewhere] = [device(), device('elsewhere', 'sv')]
      const blocks = listIn((await call(`GET /projects/${project}/ips?types=public_ipv6`)).body, 'ip_addresses')
      const block = blocks.find(({ metro }) => (metro as Json)['code'] === 'da')
      const { available } = (await call(`GET /ips/${String(block?.['id'])}/available?cidr=64`)).body
      const [subnet = ''] = available as string[]
      assert.match(subnet, /^2001:db8:1:fd01::\/64$/)
      assert.is((available as string[]).length, 255)
      const { status, body } = await call(`POST /devices/${id}/ips`, { address: subnet })
      assert.equal([status, body['cidr'], body['address_family'], body['public']], [201, 64, 6, true])
      assert.is(`${String(body['network'])}/64`, subnet)
      assert.is(body['netmask'], 'ffff:ffff:ffff:ffff:0000:0000:0000:0000')
      assert.is((await call(`POST /devices/${id}/ips`, { address: subnet })).status, 422)
      const next = { address: '2001:0db8:0001:fd02:0:0:0:0/64' }
      assert.is((await call(`POST /devices/${elsewhere}/ips`, next)).status, 422)
      assert.is((await call(`POST /devices/${id}/ips`, next)).status, 201)
    },
  },
  {
    name: 'the automatic blocks of a project show the facility of their first device',
    async check({ call, device }) {
      const { facility } = (await call(`GET /devices/${device()}`)).body
      const path = `/projects/${project}/ips?types=public_ipv6,private_ipv4`
      const blocks = listIn((await call(`GET ${path}`)).body, 'ip_addresses')
      assert.is(blocks.length, 2)
      for (const block of blocks) assert.equal(block['facility'], facility)
    },
  },
  {
    name: 'an order may take its public address from a reservation, which outlives the device',
    async check({ call, reserve }) {
      const { id: reservation, network } = await reserve({ quantity: 4 })
      const ipv4 = { address_family: 4, public: true, cidr: 31, ip_reservations: [reservation] }
      const wanted = { ...order, ip_addresses: [ipv4, { address_family: 4, public: false }] }
      const { status, body } = await call(`POST ${devices}`, wanted)
      assert.is(status, 201)
      const own = publicIpv4(body)
      assert.equal([own?.['network'], own?.['cidr'], own?.['management']], [network, 31, true])
      assert.equal(own?.['parent_block'], { href: `/metal/v1/ips/${String(reservation)}` })
      assert.is(publicIpv4((await call(`POST ${devices}`, wanted)).body)?.['network'] === network, false)
      assert.is((await call(`POST ${devices}`, wanted)).status, 422)
      assert.is(listIn((await call(`GET ${devices}`)).body, 'devices').length, 2)
      await call(`DELETE /devices/${String(body['id'])}`)
      assert.is((await call(`GET /ips/${String(reservation)}`)).status, 200)
      const unknown = [{ ...ipv4, ip_reservations: [nowhere] }]
      assert.is((await call(`POST ${devices}`, { ...order, ip_addresses: unknown })).status, 422)
    },
  },
  {
    name: 'an order may choose the size of its public IPv4 subnet',
    async check({ call }) {
      const sizes = async (more: Json) =>
        publicIpv4((await call(`POST ${devices}`, { ...order, ...more })).body)?.['cidr']
      assert.is(await sizes({}), 31)
      assert.is(await sizes({ public_ipv4_subnet_size: 29 }), 29)
      assert.is(await sizes({ ip_addresses: [{ address_family: 4, public: true, cidr: 28 }] }), 28)
      assert.is((await call(`POST ${devices}`, { ...order, public_ipv4_subnet_size: 20 })).status, 422)
    },
  },
  {
    name: 'a device shows its root password for a day, its switch and the price of a spot instance',
    async check({ clock, call }) {
      const { body } = await call(`POST ${devices}`, { ...order, spot_instance: true, spot_price_max: 0.25 })
      const path = `/devices/${String(body['id'])}`
      assert.equal([typeof body['root_password'], typeof body['switch_uuid']], ['string', 'string'])
      assert.equal([body['spot_instance'], body['spot_price_max']], [true, 0.25])
      clock.now += 24 * 3600 * 1000
      assert.is('root_password' in (await call(`GET ${path}`)).body, false)
    },
  },
  {
    name: 'a locked device cannot be deleted until it is unlocked, which one client does with PATCH',
    async check({ call, device }) {
      const path = `/devices/${device()}`
      assert.is((await call(`PATCH ${path}`, { locked: true })).body['locked'], true)
      const refusal = await call(`DELETE ${path}`)
      assert.equal([refusal.status, refusal.body], [422, { errors: ['Cannot delete a locked item'] }])
      await call(`PATCH ${path}`, { locked: false })
      assert.is((await call(`DELETE ${path}`)).status, 204)
    },
  },
  {
    name: 'a block of 256 addresses requires approval, so that a fail-fast request gets 422',
    async check({ metal, call }) {
      const sent = { type: 'public_ipv4', quantity: 256, metro: 'da', fail_on_approval_required: true }
      assert.is((await call(`POST /projects/${project}/ips`, sent)).status, 422)
      assert.is((await call(`POST /projects/${project}/ips`, { ...sent, quantity: 128 })).status, 201)
      metal.control.setUnknowns({ largestBlock: 'granted' })
      const other = `POST /projects/${otherProject}/ips`
      assert.is((await call(other, sent, 'both')).status, 201)
    },
  },
  {
    name: 'a project can be created, listed, changed, and deleted once it has no devices',
    async check({ metal, call }) {
      const made = await call('POST /projects', { name: 'lab', customdata: { a: 1 } })
      assert.is(made.status, 201)
      const path = `/projects/${String(made.body['id'])}`
      assert.equal((await call(`GET ${path}`)).body, made.body)
      assert.equal((await call(`GET ${path}/customdata`)).body, { a: 1 })
      assert.ok(idsIn((await call('GET /projects')).body, 'projects').includes(made.body['id']))
      assert.equal(idsIn((await call('GET /projects?name=lab')).body, 'projects'), [made.body['id']])
      for (const method of ['PUT', 'PATCH'])
        assert.is((await call(`${method} ${path}`, { name: method })).body['name'], method)
      assert.is((await call('POST /projects', {})).status, 422)
      const { id } = (await call(`POST ${path}/devices`, order)).body
      assert.is((await call(`DELETE ${path}`)).status, 422)
      metal.control.devices.remove(String(id))
      assert.is((await call(`DELETE ${path}`)).status, 204)
      assert.is((await call(`GET ${path}`)).status, 404)
    },
  },
  {
    name: 'an organization can be created, changed and deleted, and lists its own projects',
    async check({ call }) {
      const [first] = listIn((await call('GET /organizations')).body, 'organizations')
      const { status, body } = await call('POST /organizations', { name: 'lab', description: 'for tests' })
      assert.equal([status, body['description']], [201, 'for tests'])
      const path = `/organizations/${String(body['id'])}`
      assert.is((await call(`PUT ${path}`, { name: 'laboratory' })).body['name'], 'laboratory')
      const { id } = (await call(`POST ${path}/projects`, { name: 'cell' })).body
      assert.equal(idsIn((await call(`GET ${path}/projects`)).body, 'projects'), [id])
      assert.equal(idsIn((await call(`GET /organizations/${String(first?.['id'])}/projects`)).body, 'projects'), [
        project,
      ])
      assert.is((await call(`DELETE ${path}`)).status, 422)
      await call(`DELETE /projects/${String(id)}`)
      assert.is((await call(`DELETE ${path}`)).status, 204)
      assert.is((await call(`GET ${path}`)).status, 404)
    },
  },
  {
    name: 'SSH keys belong to the user or to a project, and a new device has those that it may use',
    async check({ call }) {
      const key = (label: string) => ({ label, key: publicKey })
      const { id: mine } = (await call('POST /ssh-keys', key('laptop'))).body
      const { id: shared } = (await call(`POST /projects/${project}/ssh-keys`, key('team'))).body
      await call(`POST /projects/${otherProject}/ssh-keys`, key('stranger'), 'both')
      assert.equal(idsIn((await call('GET /ssh-keys')).body, 'ssh_keys'), [mine])
      assert.equal(idsIn((await call(`GET /projects/${project}/ssh-keys`)).body, 'ssh_keys'), [shared])
      const keysOf = async (more: Json) => {
        const { id } = (await call(`POST ${devices}`, { ...order, ...more })).body
        return new Set(idsIn((await call(`GET /devices/${String(id)}/ssh-keys`)).body, 'ssh_keys'))
      }
      assert.equal(await keysOf({}), new Set([mine, shared]))
      assert.equal(await keysOf({ project_ssh_keys: [shared] }), new Set([shared]))
      assert.equal(await keysOf({ no_ssh_keys: true }), new Set())
      const path = `/ssh-keys/${String(mine)}`
      for (const method of ['PUT', 'PATCH'])
        assert.is((await call(`${method} ${path}`, { label: method })).body['label'], method)
      assert.match(String((await call(`GET ${path}`)).body['fingerprint']), /^([0-9a-f]{2}:){15}[0-9a-f]{2}$/)
      assert.is((await call('POST /ssh-keys', { label: 'a', key: 'nothing' })).status, 422)
      assert.is((await call(`DELETE ${path}`)).status, 204)
      assert.is((await call(`GET ${path}`)).status, 404)
    },
  },
  {
    name: 'a token of another project reads and changes no SSH key of this one, and a reader adds nothing',
    async check({ call }) {
      const key = { label: 'stranger', key: publicKey }
      const { id } = (await call(`POST /projects/${otherProject}/ssh-keys`, key, 'both')).body
      assert.is((await call(`GET /ssh-keys/${String(id)}`)).status, 403)
      assert.is((await call(`DELETE /ssh-keys/${String(id)}`)).status, 403)
      for (const [route, sent] of [
        ['POST /ssh-keys', key],
        ['POST /projects', { name: 'lab' }],
        ['POST /organizations', { name: 'lab' }],
      ] as const)
        assert.is((await call(route, sent, 'reader')).status, 403, route)
    },
  },
  {
    name: 'plans, operating systems and the user are what devices refer to',
    async check({ call, device }) {
      const { plan, operating_system: system } = (await call(`GET /devices/${device()}`)).body
      for (const path of ['/plans', `/projects/${project}/plans`]) {
        const found = listIn((await call(`GET ${path}`)).body, 'plans').find(({ id }) => id === (plan as Json)['id'])
        assert.equal([found?.['slug'], Array.isArray(found?.['available_in_metros'])], ['c3.small.x86', true])
      }
      const systems = listIn((await call('GET /operating-systems')).body, 'operating_systems')
      const known = systems.find(({ slug }) => slug === (system as Json)['slug'])
      assert.equal((known?.['provisionable_on'] as string[] | undefined)?.includes('c3.small.x86'), true)
      const user = (await call('GET /user')).body
      assert.equal((await call(`GET /users/${String(user['id'])}`)).body, user)
    },
  },
  {
    name: 'the events of a device, a project and an organization show the latest first',
    async check({ clock, call }) {
      const { id } = (await call(`POST ${devices}`, order)).body
      clock.now += 2000
      const [organization] = listIn((await call('GET /organizations')).body, 'organizations')
      const lists = ['/events', `/devices/${String(id)}/events`, `/projects/${project}/events`]
      for (const list of [...lists, `/organizations/${String(organization?.['id'])}/events`]) {
        const { body } = await call(`GET ${list}`)
        const types = listIn(body, 'events').map(({ type }) => type)
        assert.equal(types, ['provisioning.109', 'provisioning.101'], list)
        const [latest = {}] = listIn(body, 'events')
        assert.equal((await call(`GET /events/${String(latest['id'])}`)).body, latest)
      }
      assert.is((await call(`GET /events/${nowhere}`)).status, 404)
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test.run()
