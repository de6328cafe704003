import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, listIn, project, withMetal } from './metal-fixture.ts'

const devices = `/projects/${project}/devices`
const order = { plan: 'c3.small.x86', operating_system: 'ubuntu_24_04', metro: 'da', hostname: 'worker-1' }
const short = ({ address_family: family, public: isPublic, management, cidr }: Json) => [
  family,
  isPublic,
  management,
  cidr,
]

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'a device has three management blocks: a public /31, an IPv6 /127 and a private /31',
    async check({ call, device }) {
      const { body } = await call(`GET /devices/${device()}`)
      assert.equal(listIn(body, 'ip_addresses').map(short), [
        [4, true, true, 31],
        [6, true, true, 127],
        [4, false, true, 31],
      ])
      assert.equal([(body['plan'] as Json)['slug'], (body['metro'] as Json)['code']], ['c3.small.x86', 'da'])
    },
  },
  {
    name: 'the private /31s in a metro are parts of one /25 of the project, which is full after 64',
    async check({ call, device }) {
      for (let n = 0; n < 65; n += 1) device(`worker-${n}`)
      device('elsewhere', 'sv')
      const blocks = listIn((await call(`GET /projects/${project}/ips?types=private_ipv4`)).body, 'ip_addresses')
      assert.equal(
        blocks.map((block) => [block['cidr'], block['public'], (block['metro'] as Json)['code']]),
        [
          [25, false, 'sv'],
          [25, false, 'da'],
          [25, false, 'da'],
        ],
      )
      const ipv6 = listIn((await call(`GET /projects/${project}/ips?types=public_ipv6`)).body, 'ip_addresses')
      assert.equal(
        ipv6.map(({ cidr }) => cidr),
        [56, 56],
      )
    },
  },
  {
    name: 'no two devices ever share an address',
    async check({ metal, device }) {
      for (let n = 0; n < 40; n += 1) device(`worker-${n}`)
      const held = metal.control.devices
        .all()
        .flatMap((one) => listIn(one, 'ip_addresses').map(({ address }) => address))
      assert.is(held.length, 120)
      assert.is(new Set(held).size, 120)
    },
  },
  {
    name: 'a parent block is shown in full only when it is included',
    async check({ call, device }) {
      const id = device()
      const parents = async (query: string) =>
        listIn((await call(`GET /devices/${id}${query}`)).body, 'ip_addresses').map((one) =>
          Object.keys(one['parent_block'] as Json),
        )
      assert.equal(await parents(''), [['href'], ['href'], ['href']])
      const [first] = await parents('?include=ip_addresses.parent_block%2Cparent_block')
      assert.equal(first, ['network', 'netmask', 'cidr', 'href'])
    },
  },
  {
    name: 'an excluded reference is only an href',
    async check({ call, device }) {
      const { body } = await call(`GET /devices/${device()}?exclude=plan,metro,ip_addresses`)
      for (const name of ['plan', 'metro']) assert.equal(Object.keys(body[name] as Json), ['href'])
      assert.equal(Object.keys(listIn(body, 'ip_addresses')[0] ?? {}), ['href'])
    },
  },
  {
    name: 'an assigned address is shown on the device, in its metadata and in the reservation, until it is detached',
    async check({ call, reserve, device }) {
      const id = device()
      const { id: reservation, address } = await reserve()
      const { status, body } = await call(`POST /devices/${id}/ips`, { address: `${String(address)}/32` })
      assert.is(status, 201)
      assert.equal([body['address'], body['cidr'], body['public'], body['management']], [address, 32, true, false])
      assert.equal(body['parent_block'], { href: `/metal/v1/ips/${String(reservation)}` })

      const seen = async () => [
        listIn((await call(`GET /devices/${id}`)).body, 'ip_addresses').some((one) => one['address'] === address),
        (await call(`GET /devices/${id}/metadata`)).text.includes(`"${String(address)}"`),
        listIn((await call(`GET /ips/${String(reservation)}`)).body, 'assignments').length === 1,
      ]
      assert.equal(await seen(), [true, true, true])
      const { assignments } = (await call(`GET /ips/${String(reservation)}?include=assignments`)).body
      assert.is((assignments as Json[])[0]?.['address'], address)

      assert.is((await call(`DELETE /ips/${String(body['id'])}`)).status, 204)
      assert.equal(await seen(), [false, false, false])
    },
  },
  {
    name: 'an address cannot be assigned twice, in another metro, without a reservation, or as a larger block',
    async check({ call, reserve, device }) {
      const [here, there] = [device(), device('elsewhere', 'sv')]
      const { address } = await reserve()
      const tried = async (id: string, wanted: unknown) => await call(`POST /devices/${id}/ips`, { address: wanted })
      assert.is((await tried(there, address)).status, 422)
      assert.is((await tried(here, '192.0.2.250')).status, 422)
      assert.is((await tried(here, `${String(address)}/31`)).status, 422)
      assert.is((await tried(here, undefined)).status, 422)
      assert.is((await tried(here, address)).status, 201)
      const second = await tried(here, address)
      assert.equal([second.status, second.body], [422, { errors: ['Address has already been taken'] }])
    },
  },
  {
    name: 'a global address can be assigned in any metro',
    async check({ call, reserve, device }) {
      const { address } = await reserve({ type: 'global_ipv4', metro: undefined })
      assert.is((await call(`POST /devices/${device('elsewhere', 'sv')}/ips`, { address })).status, 201)
    },
  },
  {
    name: 'an address of a pending reservation cannot be assigned',
    async check({ metal, call, reserve, device }) {
      metal.control.setGrants({ mode: 'late' })
      const { address } = await reserve()
      assert.is((await call(`POST /devices/${device()}/ips`, { address })).status, 422)
    },
  },
  {
    name: 'a management address cannot be removed from its device',
    async check({ call, device }) {
      const [first] = listIn((await call(`GET /devices/${device()}/ips`)).body, 'ip_addresses')
      assert.is((await call(`DELETE /ips/${String(first?.['id'])}`)).status, 422)
    },
  },
  {
    name: 'deleting a reservation gets 422 while a device has one of its addresses',
    async check({ call, reserve, device }) {
      const { id, address } = await reserve()
      const { body } = await call(`POST /devices/${device()}/ips`, { address })
      assert.is((await call(`DELETE /ips/${String(id)}`)).status, 422)
      await call(`DELETE /ips/${String(body['id'])}`)
      assert.is((await call(`DELETE /ips/${String(id)}`)).status, 204)
    },
  },
  {
    name: 'a new device becomes active after its intermediate states',
    async check({ clock, call }) {
      const { status, body } = await call(`POST ${devices}`, order)
      assert.equal([status, body['state']], [201, 'queued'])
      const state = async () => (await call(`GET /devices/${String(body['id'])}`)).body['state']
      clock.now += 1000
      assert.is(await state(), 'provisioning')
      clock.now += 1000
      assert.is(await state(), 'active')
    },
  },
  {
    name: 'an order without plan, operating system and location gets 422 with all of its problems',
    async check({ call }) {
      const { status, body } = await call(`POST ${devices}`, {})
      assert.equal([status, listIn(body, 'errors').length], [422, 3])
      assert.is((await call(`POST ${devices}`, { ...order, facility: ['da11'] })).status, 422)
      assert.is((await call(`POST ${devices}`, { ...order, plan: 'x' })).status, 422)
    },
  },
  {
    name: 'a device can be ordered without a public IPv4 address, and with a list of facilities',
    async check({ call }) {
      const ip_addresses = [{ address_family: 4, public: false }]
      const { body } = await call(`POST ${devices}`, {
        ...order,
        metro: undefined,
        facility: ['zz1', 'sv15'],
        ip_addresses,
      })
      assert.equal(listIn(body, 'ip_addresses').map(short), [[4, false, true, 31]])
      assert.is((body['facility'] as Json)['code'], 'sv15')
    },
  },
  {
    name: 'PUT changes only the given fields, and a locked device cannot be deleted',
    async check({ call, device }) {
      const id = device()
      const { body } = await call(`PUT /devices/${id}`, { tags: ['a'], hostname: 'renamed', locked: true })
      assert.equal([body['tags'], body['hostname'], body['billing_cycle']], [['a'], 'renamed', 'hourly'])
      assert.is((await call(`DELETE /devices/${id}`)).status, 422)
    },
  },
  {
    name: 'a deleted device disappears with its sessions and management blocks, and reserved addresses stay',
    async check({ metal, call, reserve, device }) {
      const id = device()
      await call(`POST /projects/${project}/bgp-configs`, { deployment_type: 'local', asn: 65000 })
      await call(`POST /devices/${id}/bgp/sessions`, { address_family: 'ipv4' })
      const { id: reservation, address } = await reserve()
      await call(`POST /devices/${id}/ips`, { address })
      assert.is((await call(`DELETE /devices/${id}`)).status, 204)
      assert.is((await call(`GET /devices/${id}`)).status, 404)
      assert.equal((await call(`GET /projects/${project}/bgp/sessions`)).body, { bgp_sessions: [] })
      assert.equal((await call(`GET /ips/${String(reservation)}`)).body['assignments'], [])
      assert.is(metal.control.reservations.all().filter((one) => one['cidr'] === 31).length, 0)
    },
  },
  {
    name: 'with slow deletion a device is deprovisioning until the time has passed',
    async check({ metal, clock, call, device }) {
      metal.control.setDeletion({ devicesMs: 5000 })
      const id = device()
      await call(`DELETE /devices/${id}`)
      assert.is((await call(`GET /devices/${id}`)).body['state'], 'deprovisioning')
      clock.now += 5000
      assert.is((await call(`GET /devices/${id}`)).status, 404)
    },
  },
  {
    name: 'a device that is switched off is inactive',
    async check({ metal, call, device }) {
      const id = device()
      metal.control.devices.powerOff(id)
      assert.is((await call(`GET /devices/${id}`)).body['state'], 'inactive')
      metal.control.devices.powerOn(id)
      assert.is((await call(`GET /devices/${id}`)).body['state'], 'active')
    },
  },
  {
    name: 'reading a failed device gets 403, and the list still shows it',
    async check({ metal, call, device }) {
      const id = device()
      metal.control.devices.setState(id, 'failed')
      assert.is((await call(`GET /devices/${id}`)).status, 403)
      assert.equal(idsIn((await call(`GET ${devices}`)).body, 'devices'), [id])
      metal.control.setUnknowns({ failedDevice: '200' })
      assert.is((await call(`GET /devices/${id}`)).status, 200)
    },
  },
  {
    name: 'metadata shows locations as codes, hrefs without /metal/v1, and no neighbors before the first session',
    async check({ call, device }) {
      const id = device()
      const { body } = await call(`GET /devices/${id}/metadata`)
      assert.equal(
        [body['metro'], body['facility'], body['plan'], body['bgp_neighbors']],
        ['da', 'da11', 'c3.small.x86', undefined],
      )
      assert.not.match(JSON.stringify(body), '/metal/v1')
      await call(`POST /projects/${project}/bgp-configs`, { deployment_type: 'local', asn: 65000 })
      await call(`POST /devices/${id}/bgp/sessions`, { address_family: 'ipv4' })
      assert.is(listIn((await call(`GET /devices/${id}/metadata`)).body, 'bgp_neighbors').length, 1)
    },
  },
]

test('the filter mac_address finds a device by either port', () =>
  withMetal({}, async ({ call, device }) => {
    const id = device()
    device('another')
    const ports = listIn((await call(`GET /devices/${id}`)).body, 'network_ports').slice(1)
    for (const { data } of ports)
      assert.equal(idsIn((await call(`GET ${devices}?mac_address=${String((data as Json)['mac'])}`)).body, 'devices'), [
        id,
      ])
    assert.is(ports.length, 2)
  }))

for (const { name, check } of rules) test(name, () => withMetal({}, check))

const filters: { query: string; finds: string[] }[] = [
  { query: 'hostname=prod', finds: ['prod-cp', 'prod-worker'] },
  { query: 'tag=k8s', finds: ['prod-cp'] },
  { query: 'metro=SV', finds: ['prod-worker'] },
  { query: 'facility=sv15', finds: ['prod-worker'] },
  { query: 'search=m3.large', finds: ['spot'] },
  { query: 'search=198.18.&metro=da', finds: ['prod-cp', 'reserved', 'spot'] },
  { query: 'type=spot', finds: ['spot'] },
  { query: 'type=reserved', finds: ['reserved'] },
  { query: 'type=ondemand', finds: ['prod-cp', 'prod-worker'] },
  { query: 'reserved=true', finds: ['reserved'] },
  { query: 'has_termination_time=true', finds: ['spot'] },
  { query: 'has_termination_time=false&metro=da', finds: ['prod-cp', 'reserved'] },
  { query: 'categories=storage', finds: [] },
  { query: 'mac_address=02:00:00:00:00:00', finds: [] },
]

for (const { query, finds } of filters)
  test(`devices?${query} lists ${finds.join(', ') || 'nothing'}`, () =>
    withMetal({}, async ({ metal, call }) => {
      metal.control.devices.add({ hostname: 'prod-cp', tags: ['k8s'] })
      metal.control.devices.add({ hostname: 'prod-worker', metro: 'sv' })
      await call(`POST ${devices}`, { ...order, hostname: 'reserved', hardware_reservation_id: 'next-available' })
      const ends = { spot_instance: true, termination_time: '2026-03-01T00:00:00Z' }
      await call(`POST ${devices}`, { ...order, ...ends, hostname: 'spot', plan: 'm3.large.x86' })
      const found = listIn((await call(`GET ${devices}?${query}`)).body, 'devices')
      assert.equal(found.map(({ hostname }) => String(hostname)).toSorted(), finds)
    }))

test('deleting a reservation may delete its assignments too', () =>
  withMetal({ unknowns: { deleteAssigned: 'cascades' } }, async ({ call, reserve, device }) => {
    const holder = device()
    const { id, address } = await reserve()
    await call(`POST /devices/${holder}/ips`, { address })
    assert.is((await call(`DELETE /ips/${String(id)}`)).status, 204)
    assert.is(listIn((await call(`GET /devices/${holder}/ips`)).body, 'ip_addresses').length, 3)
  }))

test('assignments may have no type, as before 2023', () =>
  withMetal({ unknowns: { assignmentType: 'absent' } }, async ({ call, device }) => {
    const [first] = listIn((await call(`GET /devices/${device()}/ips`)).body, 'ip_addresses')
    assert.is(first?.['type'], undefined)
  }))

test.run()
