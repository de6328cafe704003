import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { SimulatedCloud } from '../../sandbox/clouds/simulated-cloud.ts'
import { sendCommand } from './call-api.ts'
import { type Fixture, type Json, idsIn, project, within, withCherry } from './cherry-fixture.ts'

const ips = `/projects/${project}/ips`
const region = 'LT-Siauliai'

const command = ({ cherry }: Fixture, route: string, body?: object) =>
  sendCommand(cherry.controlUrl, route, body && JSON.stringify(body))

const statuses = async ({ call }: Fixture, count: number) => {
  const seen = []
  for (let n = 0; n < count; n += 1) seen.push((await call('GET /regions')).status)
  return seen
}

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'without a limit no call is refused; with a limit of four the fifth call in a second is',
    async check(fixture) {
      const { cherry, clock } = fixture
      assert.equal(await statuses(fixture, 6), [200, 200, 200, 200, 200, 200])
      cherry.control.setCallLimit({ calls: 4, perMs: 1000 })
      assert.equal(await statuses(fixture, 6), [200, 200, 200, 200, 429, 429])
      clock.now += 1000
      assert.equal(await statuses(fixture, 1), [200])
    },
  },
  {
    name: 'all tokens of a client share one limit, and Retry-After is present only with retryAfter',
    async check({ cherry, clock, call }) {
      cherry.control.setCallLimit({ calls: 1, perMs: 30_000 })
      assert.is((await call('GET /regions')).status, 200)
      const silent = await call('GET /regions', undefined, 'both')
      assert.equal([silent.status, silent.body['code'], silent.headers.get('retry-after')], [429, 429, null])
      cherry.control.setCallLimit({ calls: 0, perMs: 30_000, retryAfter: true })
      await call('GET /regions')
      clock.now += 10_000
      assert.is((await call('GET /regions', undefined, 'none')).headers.get('retry-after'), '20')
    },
  },
  {
    name: 'an order that is over the call limit reserves nothing',
    async check({ cherry, call }) {
      cherry.control.setCallLimit({ calls: 0, perMs: 1000 })
      assert.is((await call(`POST ${ips}`, { region })).status, 429)
      assert.equal(cherry.control.reservations.all(), [])
    },
  },
  {
    name: 'a fault that follows an order waits for one that the call limit lets pass',
    async check({ cherry, clock, call }) {
      cherry.control.setCallLimit({ calls: 0, perMs: 1000 })
      cherry.control.faults.add({ on: `POST ${ips}`, answer: 500, done: true, times: 1 })
      assert.is((await call(`POST ${ips}`, { region })).status, 429)
      cherry.control.setCallLimit(undefined)
      clock.now += 1000
      assert.is((await call(`POST ${ips}`, { region })).status, 500)
      assert.is(cherry.control.reservations.all().length, 1)
      assert.is((await call(`POST ${ips}`, { region })).status, 201)
    },
  },
  {
    name: 'a fault has the error text of the vendor',
    async check({ cherry, call }) {
      cherry.control.faults.add({ on: 'GET /ips/*', answer: 429, retryAfterSeconds: 2, times: 1 })
      cherry.control.faults.add({ on: 'GET /ips/*', answer: 500, message: 'no' })
      const limited = await call('GET /ips/x')
      assert.equal(
        [limited.headers.get('retry-after'), limited.body],
        ['2', { code: 429, message: 'Too many requests.' }],
      )
      assert.equal((await call('GET /ips/x')).body, { code: 500, message: 'no' })
    },
  },
  {
    name: 'a fault after the work is done loses the answer, but the address stays reserved',
    async check({ cherry, call }) {
      cherry.control.faults.add({ on: 'POST /projects/*/ips', answer: 504, done: true, times: 1 })
      const { status, headers } = await call(`POST ${ips}`, { region })
      assert.equal([status, headers.get('content-type')], [504, 'text/html'])
      assert.is((await call(`GET ${ips}`)).list.length, 1)
    },
  },
  {
    name: 'a fault makes pages shorter than requested, and the header still shows the full length',
    async check({ cherry, call, order }) {
      const made = []
      for (let n = 0; n < 5; n += 1) made.push((await order())['id'])
      cherry.control.faults.add({ on: 'GET', answer: 'short-pages', perPage: 2 })
      const pages = []
      for (const offset of [0, 2, 4]) {
        const { list, headers } = await call(`GET ${ips}?offset=${offset}&limit=100`)
        assert.is(headers.get('x-total-count'), '5')
        pages.push(...idsIn(list))
      }
      assert.equal(pages, made)
      assert.is((await call(`GET ${ips}`)).list.length, 2)
    },
  },
  {
    name: 'a fault makes a list empty',
    async check({ cherry, call, order }) {
      await order()
      cherry.control.faults.add({ answer: 'empty-list', times: 1 })
      const { list, headers } = await call(`GET ${ips}`)
      assert.equal([list, headers.get('x-total-count')], [[], '0'])
      assert.is((await call(`GET ${ips}`)).list.length, 1)
    },
  },
  {
    name: 'an address can disappear without a DELETE call',
    async check({ cherry, call, order, server }) {
      const ip = await order({ targeted_to: server() })
      cherry.control.reservations.vanish(String(ip['id']))
      assert.is((await call(`GET /ips/${String(ip['id'])}`)).status, 404)
      assert.throws(() => cherry.control.reservations.vanish('x'), 'no floating IP has the id "x"')
    },
  },
  {
    name: 'a person can assign an address to another server, and to none',
    async check({ cherry, call, order, server }) {
      const [one, two] = [server(), server()]
      const id = String((await order({ targeted_to: one }))['id'])
      cherry.control.reservations.assign(id, String(two))
      assert.is(within((await call(`GET /ips/${id}`)).body, 'targeted_to')['id'], two)
      cherry.control.reservations.assign(id, undefined)
      assert.not.ok('targeted_to' in (await call(`GET /ips/${id}`)).body)
      assert.throws(() => cherry.control.reservations.assign(id, '1'), 'no server has the id "1"')
    },
  },
  {
    name: 'the controls that all simulated clouds share work for Cherry Servers',
    async check({ cherry, clock, call }) {
      const cloud: SimulatedCloud = cherry
      const id = String(cloud.control.devices.add({ hostname: 'worker-1', project: String(project) })['id'])
      cloud.control.devices.powerOff(id)
      assert.equal((await call(`GET /servers/${id}?fields=power`)).body, { power: 'off' })
      cloud.control.devices.powerOn(id)
      cloud.control.setDeletion({ devicesMs: 1000 })
      await call(`DELETE /servers/${id}`)
      assert.is(cloud.control.devices.all().length, 1)
      clock.now += 1000
      assert.equal(cloud.control.devices.all(), [])
    },
  },
]

for (const { name, check } of rules) test(name, () => withCherry({}, check))

/** What curl sends, and how the API behaves afterwards. */
const typed: { route: string; body: object; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    route: 'POST /devices',
    body: { hostname: 'worker-1', region: 'NL-Amsterdam', plan: 'amd-ryzen-9950x', tags: { a: 'b' } },
    async check(fixture) {
      const [server = {}] = (await command(fixture, 'GET /devices')).json as Json[]
      assert.equal([server['hostname'], within(server, 'region')['id'], server['tags']], ['worker-1', 2, { a: 'b' }])
      const path = `/devices/${String(server['id'])}`
      const api = `GET /servers/${String(server['id'])}`
      await command(fixture, `POST ${path}/power-off`)
      assert.equal((await fixture.call(`${api}?fields=power`)).body, { power: 'off' })
      await command(fixture, `POST ${path}/power-on`)
      await command(fixture, `PUT ${path}/condition`, { status: 'failed deployment' })
      assert.is((await fixture.call(api)).body['status'], 'failed deployment')
      await command(fixture, `DELETE ${path}`)
      assert.is((await fixture.call(api)).status, 404)
    },
  },
  {
    route: 'PUT /deletion',
    body: { reservationsMs: 0 },
    async check({ cherry, call, order }) {
      await call(`DELETE /ips/${String((await order())['id'])}`)
      assert.equal(cherry.control.reservations.all(), [])
    },
  },
  {
    route: 'PUT /listing',
    body: { afterMs: 1000 },
    async check({ call, order }) {
      await order()
      assert.equal((await call(`GET ${ips}`)).list, [])
    },
  },
  {
    route: 'PUT /call-limit',
    body: { calls: 1, perMs: 1000, retryAfter: true },
    async check(fixture) {
      assert.equal(await statuses(fixture, 2), [200, 429])
      await command(fixture, 'DELETE /call-limit')
      assert.equal(await statuses(fixture, 2), [200, 200])
    },
  },
  {
    route: 'PUT /local-asn',
    body: { afterMs: 0 },
    async check(fixture) {
      const id = fixture.server()
      await fixture.call(`PUT /projects/${project}`, { bgp: true })
      await fixture.call(`PUT /servers/${id}`, { bgp: true })
      assert.is(within((await fixture.call(`GET /projects/${project}`)).body, 'bgp')['local_asn'], 64_667)
      await command(fixture, `PUT /devices/${id}/bgp/session`, { connected: 2 })
      const bgp = async () => within((await fixture.call(`GET /servers/${id}`)).body, 'bgp')
      assert.is((await bgp())['status'], 'Established')
      await command(fixture, `POST /devices/${id}/bgp/off`)
      assert.is((await bgp())['enabled'], false)
      await command(fixture, `POST /projects/${project}/bgp/off`)
      const [shown = {}] = (await command(fixture, 'GET /projects')).json as Json[]
      assert.equal(shown['bgp'], { enabled: false, local_asn: 64_667 })
    },
  },
  {
    route: 'PUT /unknowns',
    body: { unknownTarget: '400' },
    async check({ call }) {
      assert.is((await call(`POST ${ips}`, { region, targeted_to: 1 })).status, 400)
    },
  },
]

for (const { route, body, check } of typed)
  test(`curl -X ${route} -d '${JSON.stringify(body)}' changes the cloud`, () =>
    withCherry({}, async (fixture) => {
      const { status, json } = await command(fixture, route, body)
      assert.is(status, 200, JSON.stringify(json))
      await check(fixture)
    }))

const mistakes: { name: string; route: string; body?: object; status: number; says: RegExp }[] = [
  {
    name: 'an unknown region',
    route: 'POST /devices',
    body: { hostname: 'a', region: 'zz' },
    status: 400,
    says: /one of LT-/,
  },
  {
    name: 'an unknown plan',
    route: 'POST /devices',
    body: { hostname: 'a', plan: 'zz' },
    status: 400,
    says: /one of B1-/,
  },
  {
    name: 'an unknown project',
    route: 'POST /devices',
    body: { hostname: 'a', project: 1 },
    status: 404,
    says: /no project/,
  },
  { name: 'an unknown server', route: 'POST /devices/1/power-off', status: 404, says: /no server has the id/ },
  {
    name: 'an unknown value',
    route: 'PUT /unknowns',
    body: { samePtrRecord: '204' },
    status: 400,
    says: /samePtrRecord/,
  },
]

for (const { name, route, body, status, says } of mistakes)
  test(`the control API explains a mistake: ${name}`, () =>
    withCherry({}, async (fixture) => {
      const answer = await command(fixture, route, body)
      assert.is(answer.status, status)
      assert.match((answer.json as { wrong: string }).wrong, says)
    }))

test('the control API refuses sessions for a server without BGP, or with more routers than the region has', () =>
  withCherry({ unknowns: { bgpBeforeProject: 'accepted' } }, async ({ cherry, call, server }) => {
    const id = server()
    assert.throws(() => cherry.control.bgp.setSession(String(id), { connected: 1 }), 'BGP is off')
    await call(`PUT /servers/${id}`, { bgp: true })
    assert.throws(() => cherry.control.bgp.setSession(String(id), { connected: 3 }), 'has 2 routers')
    assert.throws(
      () => cherry.control.devices.setCondition(String(id), { state: 'off' as 'active' }),
      'expected one of',
    )
  }))

test.run()
