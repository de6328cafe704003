import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { type Fixture, idsIn, otherProject, project, within, withCherry } from './cherry-fixture.ts'

const ips = `/projects/${project}/ips`

const answers: { name: string; route: string; token?: string; status: number; unknowns?: Partial<UnknownBehaviour> }[] =
  [
    { name: 'a request without a token for the regions', route: 'GET /regions', token: 'none', status: 401 },
    {
      name: 'a request without a token for the regions, where they are public,',
      route: 'GET /regions',
      token: 'none',
      status: 200,
      unknowns: { regionsNeedToken: 'no' },
    },
    { name: 'a request without a token for the plans', route: 'GET /plans', token: 'none', status: 200 },
    {
      name: "a request for another team's project, where the vendor hides it,",
      route: `GET /projects/${otherProject}`,
      status: 404,
      unknowns: { foreignProject: '404' },
    },
    { name: 'a request for a project whose id is not a number', route: 'GET /projects/edge-prod', status: 404 },
    { name: 'a request for an unknown region', route: 'GET /regions/EU-Nord-1', status: 404 },
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
    name: 'all tokens of a client share one limit, and Retry-After is present only with retryAfter',
    async check({ cherry, clock, call }) {
      cherry.control.setCallLimit({ calls: 1, perMs: 30_000 })
      assert.is((await call('GET /regions')).status, 200)
      const silent = await call('GET /regions', undefined, 'both')
      assert.equal([silent.status, silent.headers.get('retry-after')], [429, null])
      cherry.control.setCallLimit({ calls: 0, perMs: 30_000, retryAfter: true })
      await call('GET /regions')
      clock.now += 10_000
      assert.is((await call('GET /regions', undefined, 'none')).headers.get('retry-after'), '20')
    },
  },
]

for (const { name, check } of rules) test(name, () => withCherry({}, check))

test.run()
