import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Fixture, type Json, idsIn, listIn, project, withMetal } from './metal-fixture.ts'

const manyDevices = ({ device }: Fixture, count: number) =>
  Array.from({ length: count }, (_, n) => device(`worker-${n}`))
const devices = `/projects/${project}/devices`
const page = (n: number) => ({ href: `/metal/v1${devices}?page=${n}` })

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
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
    name: 'a reference is only an href unless it is included',
    async check({ call, reserve }) {
      const { id } = await reserve()
      assert.equal((await call(`GET /ips/${String(id)}`)).body['project'], { href: `/metal/v1/projects/${project}` })
      const { project: included } = (await call(`GET /ips/${String(id)}?include=project`)).body
      assert.is((included as Json)['id'], project)
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

test('the headers count down to a rate limit, and say when the window ends', () =>
  withMetal({ rateLimit: { calls: 2, perMs: 10_000 } }, async ({ clock, call }) => {
    const one = async (token?: string) => (await call('GET /locations/metros', undefined, token)).headers
    assert.is((await one()).get('x-ratelimit-remaining'), '1')
    await one()
    const refused = await one()
    assert.is(refused.get('x-ratelimit-remaining'), '0')
    assert.is(Number(refused.get('x-ratelimit-reset')), Math.ceil(clock.now / 1000) + 10)
    assert.is((await one('both')).get('x-ratelimit-remaining'), '1')
  }))

test.run()
