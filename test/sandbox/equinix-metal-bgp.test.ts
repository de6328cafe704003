import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, listIn, project, withMetal } from './metal-fixture.ts'

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
    // The last client of Kubernetes reads no session without its family, and would configure BGP again.
    name: 'the BGP configuration has its sessions in full',
    async check({ call, device }) {
      await call(`POST ${config}s`, local)
      await call(`POST /devices/${device()}/bgp/sessions`, { address_family: 'ipv4' })
      const sessions = listIn((await call(`GET ${config}`)).body, 'sessions')
      assert.equal(
        sessions.map((session) => session['address_family']),
        ['ipv4'],
      )
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
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test.run()
