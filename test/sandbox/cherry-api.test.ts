import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, idsIn, otherProject, project, team, within, withCherry } from './cherry-fixture.ts'

const nowhere = 'ffffffff-ffff-4fff-8fff-ffffffffffff'
const ips = `/projects/${project}/ips`

const answers: { name: string; route: string; token?: string; status: number; unknowns?: Partial<UnknownBehaviour> }[] =
  [
    { name: 'a request without a token', route: `GET ${ips}`, token: 'none', status: 401 },
    { name: 'a request with an unknown token', route: `GET ${ips}`, token: 'x', status: 401 },
    { name: 'a request without a token for an unknown path', route: 'GET /nothing', token: 'none', status: 401 },
    { name: 'a request with a token for an unknown path', route: 'GET /nothing', status: 404 },
    { name: 'a request without a token for the regions', route: 'GET /regions', token: 'none', status: 401 },
    {
      name: 'a request without a token for the regions, where they are public,',
      route: 'GET /regions',
      token: 'none',
      status: 200,
      unknowns: { regionsNeedToken: 'no' },
    },
    {
      name: 'a request without a token for the plans, which are public,',
      route: 'GET /plans',
      token: 'none',
      status: 200,
    },
    { name: "a request for another team's project", route: `GET /projects/${otherProject}`, status: 403 },
    {
      name: "a request for another team's project, where the vendor hides it,",
      route: `GET /projects/${otherProject}`,
      status: 404,
      unknowns: { foreignProject: '404' },
    },
    { name: 'a write with a read-only token', route: `POST ${ips}`, token: 'reader', status: 403 },
    { name: 'a read with a read-only token', route: `GET ${ips}`, token: 'reader', status: 200 },
    { name: 'a request for an unknown project', route: 'GET /projects/1/servers', status: 404 },
    { name: 'a request for a project whose id is not a number', route: 'GET /projects/edge-prod', status: 404 },
    { name: 'a request for an unknown server', route: 'GET /servers/1', status: 404 },
    { name: 'a request for an unknown address', route: `GET /ips/${nowhere}`, status: 404 },
    { name: 'the deletion of an unknown address', route: `DELETE /ips/${nowhere}`, status: 404 },
    { name: 'a request for an unknown region', route: 'GET /regions/EU-Nord-1', status: 404 },
    { name: 'a request for an unknown plan', route: 'GET /plans/cloud_vps_1', status: 404 },
    { name: 'a request for an unknown team', route: 'GET /teams/1', status: 404 },
    { name: 'a limit that is not a number', route: `GET ${ips}?limit=many`, status: 400 },
    { name: 'an offset below 0', route: `GET ${ips}?offset=-1`, status: 400 },
  ]

for (const { name, route, token, status, unknowns = {} } of answers)
  test(`${name} gets ${status}`, () =>
    withCherry({ unknowns }, async ({ call }) => {
      const answer = await call(route, undefined, token)
      assert.is(answer.status, status, answer.text)
      if (status < 400) return
      assert.equal(Object.keys(answer.body), ['code', 'message'])
      assert.is(answer.body['code'], status)
      assert.is(typeof answer.body['message'], 'string')
    }))

const five = async ({ order }: Fixture) => {
  const made = []
  for (let n = 0; n < 5; n += 1) made.push((await order())['id'])
  return made
}

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'a list is a plain array with all objects, and a header shows its length',
    async check(fixture) {
      const made = await five(fixture)
      const { list, headers } = await fixture.call(`GET ${ips}`)
      assert.equal(idsIn(list), made)
      assert.is(headers.get('x-total-count'), '5')
    },
  },
  {
    name: 'limit and offset select a part of a list, a limit of 0 selects all, and the header shows the full length',
    async check(fixture) {
      const made = await five(fixture)
      const page = async (query: string) => {
        const { list, headers } = await fixture.call(`GET ${ips}?${query}`)
        return [idsIn(list), headers.get('x-total-count')]
      }
      assert.equal(await page('limit=2'), [made.slice(0, 2), '5'])
      assert.equal(await page('limit=2&offset=4'), [made.slice(4), '5'])
      assert.equal(await page('limit=0&offset=1'), [made.slice(1), '5'])
      assert.equal(await page('offset=9'), [[], '5'])
    },
  },
  {
    name: 'lists show the oldest or the newest objects first',
    async check(fixture) {
      const made = await five(fixture)
      fixture.cherry.control.setUnknowns({ listOrder: 'newest-first' })
      assert.equal(idsIn((await fixture.call(`GET ${ips}`)).list), made.toReversed())
    },
  },
  {
    name: 'a header of every list shows its length',
    async check({ call, server }) {
      const id = server()
      await call('POST /ssh-keys', { label: 'laptop', key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@example.com' })
      const lists = ['/regions', '/plans', '/teams', `/teams/${team}/projects`, `/teams/${team}/plans`]
      lists.push('/cycles', '/ssh-keys', '/plans/625/images', '/plans/e5-1650v4/prebuilts?region=LT-Siauliai')
      for (const list of [...lists, ips, `/projects/${project}/servers`, `/servers/${id}/ips`]) {
        const answer = await call(`GET ${list}`)
        assert.is(answer.headers.get('x-total-count'), String(answer.list.length), list)
        assert.ok(answer.list.length > 0, list)
      }
    },
  },
  {
    name: 'fields selects the groups and the fields that it names, at every depth',
    async check({ call, order, server }) {
      await order({ targeted_to: server() })
      const { list } = await call(`GET ${ips}?type=floating-ip&fields=ip,project,routed_to,region,href,bgp,id,hostname`)
      const [floating = {}] = list
      assert.is(floating['type'], 'floating-ip')
      assert.equal(Object.keys(within(floating, 'targeted_to')).toSorted(), [
        'bgp',
        'hostname',
        'href',
        'id',
        'project',
        'region',
      ])
      assert.equal(within(floating, 'project')['name'], 'edge-prod')
      assert.equal((await call(`GET /projects/${project}?fields=id,name`)).body, { id: project, name: 'edge-prod' })
    },
  },
  {
    name: 'only fields=power shows whether a server is switched on',
    async check({ cherry, call, server }) {
      const id = server()
      assert.equal((await call(`GET /servers/${id}?fields=power`)).body, { power: 'on' })
      cherry.control.devices.powerOff(String(id))
      assert.equal((await call(`GET /servers/${id}?fields=power`)).body, { power: 'off' })
      assert.is((await call(`GET /servers/${id}`)).body['power'], undefined)
      assert.equal((await call(`GET /servers/${id}?fields=state,power`)).body, { state: 'active', power: 'off' })
    },
  },
  {
    name: 'six regions have two routers each, and can be read by id and by slug',
    async check({ call }) {
      const { list } = await call('GET /regions')
      assert.equal(
        list.map(({ id, slug }) => [id, slug]),
        [
          [1, 'LT-Siauliai'],
          [2, 'NL-Amsterdam'],
          [3, 'US-Chicago'],
          [4, 'SG-Singapore'],
          [5, 'SE-Stockholm'],
          [6, 'DE-Frankfurt'],
        ],
      )
      for (const { id, slug, bgp } of list) {
        assert.is((bgp as { hosts: string[] }).hosts.length, 2)
        assert.equal((await call(`GET /regions/${String(id)}`)).body, (await call(`GET /regions/${String(slug)}`)).body)
      }
      assert.equal(list[0]?.['bgp'], { hosts: ['46.166.166.122', '46.166.166.123'], asn: 16125 })
    },
  },
  {
    name: 'a project can be created, changed in part and deleted, and a change gets 201',
    async check({ call }) {
      const made = await call(`POST /teams/${team}/projects`, { name: 'lab' })
      assert.is(made.status, 201)
      const path = `/projects/${String(made.body['id'])}`
      assert.equal(made.body['bgp'], { enabled: false, local_asn: 0 })
      const renamed = await call(`PUT ${path}`, { name: 'laboratory' })
      assert.equal([renamed.status, renamed.body['bgp']], [201, { enabled: false, local_asn: 0 }])
      const enabled = await call(`PUT ${path}`, { bgp: true })
      assert.equal([enabled.body['name'], enabled.body['bgp']], ['laboratory', { enabled: true, local_asn: 0 }])
      assert.is((await call(`PUT ${path}`, { bgp: { enabled: true } })).status, 400)
      assert.is((await call(`DELETE ${path}`)).status, 204)
      assert.is((await call(`GET ${path}`)).status, 404)
    },
  },
  {
    name: 'a project is deleted with its servers and its floating IPs, also one that is targeted at a server',
    async check({ cherry, call, order, server }) {
      const id = server()
      await order({ targeted_to: id })
      await order()
      assert.is((await call(`DELETE /projects/${project}`)).status, 204)
      assert.is((await call(`GET /servers/${id}`)).status, 404)
      assert.equal(cherry.control.devices.all(), [])
      assert.equal(cherry.control.reservations.all(), [])
    },
  },
  {
    name: 'only a request for a single project shows its traffic',
    async check({ call }) {
      assert.ok((await call(`GET /projects/${project}`)).body['traffic'])
      assert.is((await call(`PUT /projects/${project}`, {})).body['traffic'], undefined)
    },
  },
]

for (const { name, check } of rules) test(name, () => withCherry({}, check))

test('a body that is not JSON gets 400', () =>
  withCherry({}, async ({ cherry }) => {
    const headers = { authorization: 'Bearer full', 'content-type': 'application/json' }
    const answer = await fetch(`${cherry.url}${ips}`, { method: 'POST', headers, body: '{' })
    assert.is(answer.status, 400)
  }))

test('the cloud does not start with a project id that is not a whole number', async () => {
  await withCherry({ projects: [{ id: 1.5 }] }, async () => {}).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /project 1.5: expected a whole number/),
  )
})

test.run()
