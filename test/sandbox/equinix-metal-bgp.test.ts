import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, listIn, project, withMetal } from './metal-fixture.ts'

const config = `/projects/${project}/bgp-config`
const local = { deployment_type: 'local', asn: 65000 }

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'the BGP configuration of a project without BGP is empty, not missing',
    async check({ metal, call }) {
      const answer = await call(`GET ${config}`)
      assert.equal([answer.status, answer.body], [200, {}])
      metal.control.setUnknowns({ emptyBgpConfig: 'nulls' })
      assert.is((await call(`GET ${config}`)).body['id'], null)
    },
  },
  {
    name: 'local BGP is enabled at once, with an empty answer',
    async check({ call }) {
      const { status, text } = await call(`POST ${config}s`, { ...local, md5: '' })
      assert.equal([status, text], [204, ''])
      const { body } = await call(`GET ${config}`)
      assert.equal([body['status'], body['asn'], body['md5'], body['max_prefix']], ['enabled', 65000, null, 10])
    },
  },
  {
    name: 'global BGP waits until a person enables it',
    async check({ metal, call, device }) {
      const id = device()
      await call(`POST ${config}s`, { ...local, deployment_type: 'global' })
      const session = async () => (await call(`POST /devices/${id}/bgp/sessions`, { address_family: 'ipv4' })).status
      assert.is((await call(`GET ${config}`)).body['status'], 'requested')
      assert.is(await session(), 422)
      metal.control.bgp.setStatus(project, 'enabled')
      assert.is(await session(), 201)
    },
  },
  {
    name: 'BGP can be configured only once',
    async check({ metal, call }) {
      await call(`POST ${config}s`, local)
      assert.is((await call(`POST ${config}s`, { ...local, asn: 65001 })).status, 422)
      metal.control.setUnknowns({ repeatedBgpConfig: '204' })
      assert.is((await call(`POST ${config}s`, { ...local, asn: 65001 })).status, 204)
      assert.is((await call(`GET ${config}`)).body['asn'], 65000)
    },
  },
  {
    name: 'an invalid configuration gets 422 with all of its problems',
    async check({ call }) {
      const wrong = { deployment_type: 'other', asn: 4294967296, md5: 'lowercase1' }
      assert.is(listIn((await call(`POST ${config}s`, wrong)).body, 'errors').length, 3)
    },
  },
  {
    name: 'a session in a project without BGP gets 422',
    async check({ call, device }) {
      const { status, body } = await call(`POST /devices/${device()}/bgp/sessions`, { address_family: 'ipv4' })
      assert.equal([status, body], [422, { errors: ['BGP is not enabled'] }])
    },
  },
  {
    name: 'a device has one session for each address family',
    async check({ call, device }) {
      const sessions = `/devices/${device()}/bgp/sessions`
      await call(`POST ${config}s`, local)
      const first = await call(`POST ${sessions}`, { address_family: 'ipv4' })
      assert.equal([first.status, first.body['status'], first.body['default_route']], [201, 'unknown', false])
      const again = await call(`POST ${sessions}`, { address_family: 'ipv4' })
      assert.equal([again.status, again.body], [422, { errors: ['Address family already has session with ipv4'] }])
      assert.is((await call(`POST ${sessions}`, { address_family: 'ipv6' })).status, 201)
      assert.is((await call(`POST ${sessions}`, {})).status, 422)
      assert.is(listIn((await call(`GET ${sessions}`)).body, 'bgp_sessions').length, 2)
      assert.is(listIn((await call(`GET /projects/${project}/bgp/sessions`)).body, 'bgp_sessions').length, 2)
    },
  },
  {
    name: 'a session can be read, its default route can be set in two ways, and it can be deleted once',
    async check({ call, device }) {
      await call(`POST ${config}s`, local)
      const { body } = await call(`POST /devices/${device()}/bgp/sessions`, { address_family: 'ipv4' })
      const session = `/bgp/sessions/${String(body['id'])}`
      assert.is((await call(`PUT ${session}`, true)).body['default_route'], true)
      assert.is((await call(`PUT ${session}`, { default_route: false })).body['default_route'], false)
      assert.is((await call(`PUT ${session}`, {})).status, 422)
      assert.is((await call(`DELETE ${session}`)).status, 204)
      assert.is((await call(`DELETE ${session}`)).status, 404)
    },
  },
  {
    name: 'the control API sets the status and the learned routes of a session',
    async check({ metal, call, device }) {
      await call(`POST ${config}s`, local)
      const { body } = await call(`POST /devices/${device()}/bgp/sessions`, { address_family: 'ipv4' })
      metal.control.bgp.setSession(String(body['id']), { status: 'up,down', learnedRoutes: ['203.0.113.40/32'] })
      const shown = (await call(`GET /bgp/sessions/${String(body['id'])}`)).body
      assert.equal([shown['status'], shown['learned_routes']], ['up,down', ['203.0.113.40/32']])
    },
  },
  {
    name: 'a device has no neighbors before its first session, then one entry for each',
    async check({ call, reserve, device }) {
      const id = device()
      const { address } = await reserve()
      await call(`POST ${config}s`, { ...local, md5: 'Secret1234' })
      assert.equal((await call(`GET /devices/${id}/bgp/neighbors`)).body, { bgp_neighbors: [] })
      await call(`POST /devices/${id}/bgp/sessions`, { address_family: 'ipv4' })
      await call(`POST /devices/${id}/bgp/sessions`, { address_family: 'ipv6', default_route: true })
      const addresses = listIn((await call(`GET /devices/${id}/ips`)).body, 'ip_addresses')
      const own = addresses.find((one) => one['public'] === false)?.['address']
      const [four, six] = listIn((await call(`GET /devices/${id}/bgp/neighbors`)).body, 'bgp_neighbors')
      assert.equal(four, {
        address_family: 4,
        customer_as: 65000,
        customer_ip: own,
        md5_enabled: true,
        md5_password: 'Secret1234',
        multihop: true,
        peer_as: 65530,
        peer_ips: ['169.254.255.1', '169.254.255.2'],
        routes_in: [
          { route: `${String(address)}/32`, exact: true },
          { route: '10.64.0.0/25', exact: false },
        ],
        routes_out: [],
      })
      assert.equal([six?.['address_family'], six?.['routes_out']], [6, [{ route: '::/0', exact: true }]])
      assert.match(String((six as Json)['customer_ip']), /^2001:db8:/)
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test.run()
