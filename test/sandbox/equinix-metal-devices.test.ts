import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, listIn, project, withMetal } from './metal-fixture.ts'

const devices = `/projects/${project}/devices`
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
    name: 'an address of a pending reservation cannot be assigned',
    async check({ metal, call, reserve, device }) {
      metal.control.setGrants({ mode: 'late' })
      const { address } = await reserve()
      assert.is((await call(`POST /devices/${device()}/ips`, { address })).status, 422)
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

for (const { name, check } of rules) test(name, () => withMetal({}, check))

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
