import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, listIn, otherProject, project, withMetal } from './metal-fixture.ts'

const nowhere = 'ffffffff-ffff-4fff-8fff-ffffffffffff'
const denied = { errors: ['Access denied for the current authentication token'] }
const missing = { errors: ['Not found'] }
const invalid = { error: 'Invalid authentication token' }

const answers: { name: string; route: string; token: string; status: number; body: Json }[] = [
  {
    name: 'a request without a token',
    route: `GET /projects/${project}/ips`,
    token: 'none',
    status: 401,
    body: invalid,
  },
  {
    name: 'a request with an unknown token',
    route: `GET /projects/${project}/ips`,
    token: 'x',
    status: 401,
    body: invalid,
  },
  {
    name: 'a request without a token for an unknown path',
    route: 'GET /nothing',
    token: 'none',
    status: 401,
    body: invalid,
  },
  {
    name: 'a request without a token for the metros',
    route: 'GET /locations/metros',
    token: 'none',
    status: 401,
    body: invalid,
  },
  {
    name: "a request for another customer's project",
    route: `GET /projects/${otherProject}/ips`,
    token: 'full',
    status: 403,
    body: denied,
  },
  {
    name: 'a write with a read-only token',
    route: `POST /projects/${project}/ips`,
    token: 'reader',
    status: 403,
    body: denied,
  },
  {
    name: 'a request for an unknown project',
    route: `GET /projects/${nowhere}/devices`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'a request for an unknown device',
    route: `GET /devices/${nowhere}`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'the deletion of an unknown address',
    route: `DELETE /ips/${nowhere}`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'a request for an unknown BGP session',
    route: `GET /bgp/sessions/${nowhere}`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'a BGP session for an unknown device',
    route: `POST /devices/${nowhere}/bgp/sessions`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'a request for an unknown metro',
    route: `GET /locations/metros/${nowhere}`,
    token: 'full',
    status: 404,
    body: missing,
  },
  {
    name: 'a request for the metros of a project, a path that does not exist,',
    route: `GET /projects/${project}/locations/metros`,
    token: 'full',
    status: 404,
    body: missing,
  },
]

for (const { name, route, token, status, body } of answers)
  test(`${name} gets ${status}`, () =>
    withMetal({}, async ({ call }) => {
      const answer = await call(route, undefined, token)
      assert.is(answer.status, status)
      assert.equal(answer.body, body)
    }))

const manyDevices = ({ device }: Fixture, count: number) =>
  Array.from({ length: count }, (_, n) => device(`worker-${n}`))
const devices = `/projects/${project}/devices`
const page = (n: number) => ({ href: `/metal/v1${devices}?page=${n}` })

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: "another customer's project may get 404 instead of 403",
    async check({ metal, call }) {
      metal.control.setUnknowns({ foreignProject: '404' })
      assert.is((await call(`GET /projects/${otherProject}/ips`)).status, 404)
    },
  },
  {
    name: "objects of another customer's project get 403 by their ids too",
    async check({ metal, call, reserve }) {
      const { id } = await reserve()
      const { id: device } = metal.control.devices.add({ hostname: 'theirs', project: otherProject })
      assert.is((await call(`GET /devices/${String(device)}`)).status, 403)
      assert.is((await call(`DELETE /ips/${String(id)}`, undefined, 'reader')).status, 403)
      assert.is((await call(`GET /ips/${String(id)}`, undefined, 'reader')).status, 200)
    },
  },
  {
    name: 'every answer, also an error, has a content type, a request id and the rate limit',
    async check({ call }) {
      for (const route of ['GET /locations/metros', 'GET /nothing']) {
        const { headers } = await call(route)
        assert.is(headers.get('content-type'), 'application/json; charset=utf-8')
        assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
        assert.match(headers.get('etag') ?? '', /^W\/"/)
        for (const name of ['limit', 'remaining', 'reset'])
          assert.match(headers.get(`x-ratelimit-${name}`) ?? '', /^\d+$/)
      }
    },
  },
  {
    name: 'a body that is not JSON gets 400, and a body with another content type is ignored',
    async check({ metal, call, reserve }) {
      await reserve()
      const post = async (type: string, body: string) =>
        await fetch(`${metal.url}/projects/${project}/ips`, {
          method: 'POST',
          headers: { 'x-auth-token': 'full', 'content-type': type },
          body,
        })
      assert.is((await post('application/json', '{')).status, 400)
      assert.is((await post('application/x-www-form-urlencoded', '{"type":"public_ipv4"}')).status, 422)
      assert.is((await call(`DELETE /ips/${nowhere}`, '')).status, 404)
    },
  },
  {
    name: 'a page has ten devices or 250 addresses by default',
    async check(fixture) {
      const ids = manyDevices(fixture, 12)
      const first = (await fixture.call(`GET ${devices}`)).body
      assert.equal(idsIn(first, 'devices'), ids.toReversed().slice(0, 10))
      assert.equal(first['meta'], {
        first: page(1),
        previous: null,
        self: page(1),
        next: page(2),
        last: page(2),
        total: 12,
        current_page: 1,
        last_page: 2,
      })
      const second = (await fixture.call(`GET ${devices}?page=2`)).body
      assert.equal(idsIn(second, 'devices'), ids.toReversed().slice(10))
      assert.equal([(second['meta'] as Json)['previous'], (second['meta'] as Json)['next']], [page(1), null])
      fixture.metal.control.quota.set(300)
      for (let n = 0; n < 251; n += 1) await fixture.reserve()
      const addresses = (await fixture.call(`GET /projects/${project}/ips?types=public_ipv4`)).body
      assert.equal([listIn(addresses, 'ip_addresses').length, (addresses['meta'] as Json)['last_page']], [250, 2])
    },
  },
  {
    name: 'a page size outside the limits becomes the nearest limit, and a page after the last is empty',
    async check(fixture) {
      manyDevices(fixture, 12)
      const listed = async (query: string) =>
        listIn((await fixture.call(`GET ${devices}?${query}`)).body, 'devices').length
      assert.is(await listed('per_page=0'), 1)
      assert.is(await listed('per_page=99999'), 12)
      assert.is(await listed('per_page=nonsense'), 10)
      assert.is(await listed('page=7'), 0)
    },
  },
  {
    name: 'an empty list has one page',
    async check({ call }) {
      const { meta } = (await call(`GET ${devices}`)).body
      assert.equal([(meta as Json)['total'], (meta as Json)['last_page'], (meta as Json)['next']], [0, 1, null])
    },
  },
  {
    name: 'lists may show the oldest objects first',
    async check(fixture) {
      fixture.metal.control.setUnknowns({ listOrder: 'oldest-first' })
      const ids = manyDevices(fixture, 3)
      assert.equal(idsIn((await fixture.call(`GET ${devices}`)).body, 'devices'), ids)
    },
  },
  {
    name: 'a reference is only an href unless it is included',
    async check({ call, reserve }) {
      const { id } = await reserve()
      assert.equal((await call(`GET /ips/${String(id)}`)).body['project'], { href: `/metal/v1/projects/${project}` })
      const { project: included } = (await call(`GET /ips/${String(id)}?include=project`)).body
      assert.is((included as Json)['id'], project)
    },
  },
  {
    name: 'every token can read every metro by code or id, and facilities have deprecation headers',
    async check({ call }) {
      const metros = listIn((await call('GET /locations/metros')).body, 'metros')
      assert.is(metros.length, 24)
      const dallas = metros.find(({ code }) => code === 'da')
      assert.equal((await call(`GET /locations/metros/${String(dallas?.['id'])}`)).body, dallas)
      for (const route of ['GET /facilities', `GET /projects/${project}/facilities`]) {
        const { headers, body } = await call(route)
        assert.ok(headers.get('sunset'))
        assert.ok(listIn(body, 'facilities').some(({ code }) => code === 'da11'))
      }
    },
  },
  {
    name: 'capacity shows servers for existing locations and plans',
    async check({ call }) {
      const { capacity } = (await call('GET /capacity/metros')).body as { capacity: Record<string, Json> }
      assert.equal(capacity['da']?.['c3.small.x86'], { level: 'normal' })
      const servers = [
        { metro: 'da', plan: 'c3.small.x86', quantity: 2 },
        { metro: 'zz', plan: 'c3.small.x86', quantity: 1 },
      ]
      assert.equal(
        listIn((await call('POST /capacity/metros', { servers })).body, 'servers').map(({ available }) => available),
        [true, false],
      )
      assert.is((await call('POST /capacity', {})).status, 422)
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test('calls over a rate limit get 429 until the window ends', () =>
  withMetal({ rateLimit: { calls: 2, perMs: 10_000 } }, async ({ clock, call }) => {
    const one = async () => await call('GET /locations/metros')
    assert.is((await one()).headers.get('x-ratelimit-remaining'), '1')
    assert.is((await one()).status, 200)
    const refused = await one()
    assert.equal([refused.status, refused.headers.get('x-ratelimit-remaining')], [429, '0'])
    assert.is(Number(refused.headers.get('x-ratelimit-reset')), Math.ceil(clock.now / 1000) + 10)
    assert.is((await call('GET /locations/metros', undefined, 'both')).status, 200)
    clock.now += 10_000
    assert.is((await one()).status, 200)
  }))

test('the cloud does not start with an unknown value for undocumented behaviour, and names the possible values', async () => {
  const unknowns = JSON.parse('{"listOrder":"random"}') as object
  let message = ''
  await withMetal({ unknowns }, async () => {}).catch((error: unknown) => (message = String(error)))
  assert.match(message, /listOrder=random: expected one of newest-first, oldest-first/)
})

test.run()
