// The rules that every simulated cloud keeps, whatever its vendor: what tests and people do with it rests on them.
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Simulator, type Vendor, vendors } from './contract.ts'

const edge = 'text/html'
const inVain = async (calling: Promise<unknown>): Promise<string> =>
  await calling.then(
    () => 'it did not fail',
    (error: unknown) => inspect(error),
  )
const wasReset = /ECONNRESET|other side closed/
const idsIn = (list: Record<string, unknown>[]) => list.map(({ id }) => String(id))

type Rule = { name: string; check: (simulator: Simulator, vendor: Vendor) => Promise<void> }

const rules: Rule[] = [
  {
    name: 'what is reserved is listed until it is deleted, and a second deletion gets 404',
    async check({ call, control, reserve }, { ips, listed, total }) {
      control.setDeletion({ reservationsMs: 0 })
      const ids = [await reserve(), await reserve(), await reserve()]
      const all = await call(`GET ${ips}`)
      assert.equal([idsIn(listed(all)).toSorted(), total(all)], [ids.toSorted(), 3])
      const [first = '', ...others] = ids
      assert.is((await call(`DELETE /ips/${first}`)).status, 204)
      assert.is((await call(`GET /ips/${first}`)).status, 404)
      assert.is((await call(`DELETE /ips/${first}`)).status, 404)
      assert.equal(idsIn(listed(await call(`GET ${ips}`))).toSorted(), others.toSorted())
    },
  },
  {
    name: 'a deleted reservation is shown for as long as the control API says',
    async check({ call, clock, control, reserve }, { ips, listed }) {
      control.setDeletion({ reservationsMs: 5000 })
      const id = await reserve()
      assert.is((await call(`DELETE /ips/${id}`)).status, 204)
      assert.equal([idsIn(listed(await call(`GET ${ips}`))), control.reservations.deleting()], [[id], [id]])
      clock.now += 5000
      assert.equal([idsIn(listed(await call(`GET ${ips}`))), control.reservations.deleting()], [[], []])
    },
  },
  {
    name: 'over the quota nothing is reserved, and the refusal has the form of the vendor',
    async check({ call, control, reserve }, { ips, order, listed, overQuota }) {
      control.quota.set(1)
      await reserve()
      const { status, body } = await call(`POST ${ips}`, order)
      assert.equal([status, 'errors' in body || body['code'] === status], [overQuota, true])
      assert.is(listed(await call(`GET ${ips}`)).length, 1)
    },
  },
  {
    name: 'a fault strikes the calls that it names before any work is done, in the words of the vendor',
    async check({ call, control }, { ips, order, words, said }) {
      for (const answer of [401, 403, 404, 429, 500, 502, 503] as const) {
        control.faults.add({ on: 'POST /projects/*/ips', answer })
        const { status, headers, text, body } = await call(`POST ${ips}`, order)
        assert.is(status, answer)
        if (answer === 502 || answer === 503) assert.match(text, `<h1>${answer} `)
        else assert.equal(body, words[answer])
        assert.is(headers.get('content-type') === edge, answer === 502 || answer === 503)
        assert.is(headers.get('retry-after'), null)
        assert.is((await call(`GET ${ips}`)).status, 200)
        control.faults.clear()
      }
      control.faults.add({ on: 'POST', answer: 422, message: 'no', times: 1 })
      assert.equal((await call(`POST ${ips}`, order)).body, said(422, 'no'))
      control.faults.add({ on: 'POST', answer: 429, retryAfterSeconds: 7, times: 1 })
      assert.is((await call(`POST ${ips}`, order)).headers.get('retry-after'), '7')
      assert.equal(control.reservations.all(), [])
      assert.is((await call(`POST ${ips}`, order)).status, 201)
    },
  },
  {
    name: 'a fault with done loses the answer after the work is done; without it, nothing is done',
    async check({ call, control }, { ips, order }) {
      const lost: { answer: 'reset' | 500 | 504 | 'web-page'; done: boolean }[] = []
      for (const answer of ['reset', 500, 504, 'web-page'] as const)
        for (const done of [true, false]) lost.push({ answer, done })
      let reserved = 0
      for (const { answer, done } of lost) {
        control.faults.add({ on: 'POST /projects/{id}/ips', answer, done, times: 1 })
        const calling = call(`POST ${ips}`, order)
        if (answer === 'reset') assert.match(await inVain(calling), wasReset)
        else if (answer === 'web-page') assert.match((await calling).text, /^<html>/)
        else assert.is((await calling).status, answer)
        reserved += done ? 1 : 0
        assert.is(control.reservations.all().length, reserved, `${answer} ${done}`)
      }
    },
  },
  {
    name: 'a call that hangs gets no answer, and does not prevent the provider from closing',
    async check({ call, close, control }, { catalogue }) {
      control.faults.add({ answer: 'hang' })
      const hanging = inVain(call(`GET ${catalogue}`))
      while (control.calls.count() < 1) await sleep(5)
      await close()
      assert.match(await hanging, wasReset)
    },
  },
  {
    name: 'a slow answer is late; with done, the work is done before the delay',
    async check({ call, control }, { ips, order }) {
      control.faults.add({ on: 'POST', answer: 'slow', ms: 300, done: true, times: 1 })
      const calling = call(`POST ${ips}`, order)
      while (control.reservations.all().length === 0) await sleep(2)
      assert.is(control.calls.all()[0]?.status, undefined)
      assert.is((await calling).status, 201)
      assert.ok((control.calls.all()[0]?.ms ?? 0) >= 295)
    },
  },
  {
    name: 'a redirect leads to the same URL with plain HTTP or to its location, and no work is done',
    async check({ call, control, url }, { ips, order }) {
      control.faults.add({ on: 'POST', answer: 'redirect', times: 1 })
      control.faults.add({ on: 'POST', answer: 'redirect', location: 'https://elsewhere.test/', times: 1 })
      for (const location of [`${url}${ips}`, 'https://elsewhere.test/']) {
        const { status, headers } = await call(`POST ${ips}`, order)
        assert.equal([status, headers.get('location')], [301, location])
      }
      assert.equal(control.reservations.all(), [])
    },
  },
  {
    name: 'lists can be empty, in short pages and in another order, and then whole again',
    async check({ call, control, reserve }, { ips, listed, total }) {
      const ids = []
      for (let n = 0; n < 12; n += 1) ids.push(await reserve())
      const read = async () => {
        const answer = await call(`GET ${ips}`)
        return { ids: idsIn(listed(answer)), total: total(answer) }
      }
      control.faults.add({ on: 'GET', answer: 'empty-list', times: 1 })
      assert.equal(await read(), { ids: [], total: 0 })
      control.faults.add({ on: 'GET', answer: 'short-pages', perPage: 2, times: 1 })
      const page = await read()
      assert.equal([page.ids.length, page.total], [2, 12])
      control.faults.add({ on: 'GET', answer: 'shuffled-list', times: 4 })
      const orders = new Set<string>()
      for (let n = 0; n < 4; n += 1) orders.add((await read()).ids.join())
      assert.ok(orders.size > 1)
      assert.equal((await read()).ids.toSorted(), ids.toSorted())
    },
  },
  {
    name: 'a fault strikes the given number of times, and the fault added first strikes first',
    async check({ call, control }, { catalogue }) {
      control.faults.add({ answer: 500, times: 2 })
      control.faults.add({ on: catalogue, answer: 403 })
      const seen = []
      for (let n = 0; n < 3; n += 1) seen.push((await call(`GET ${catalogue}`)).status)
      assert.equal(seen, [500, 500, 403])
      assert.equal(
        control.faults.all().map(({ id, struck }) => [id, struck]),
        [[2, 1]],
      )
    },
  },
  {
    name: 'latency delays every call, and a route may have its own',
    async check({ call, control }, { catalogue, ips }) {
      control.latency.set({ ms: 200, jitterMs: 5 })
      control.latency.set({ on: `GET ${ips}`, ms: 0 })
      await call(`GET ${catalogue}`)
      await call(`GET ${ips}`)
      const [slow, quick] = control.calls.all().map(({ ms = 0 }) => ms)
      assert.ok((slow ?? 0) >= 195, `${slow} ms`)
      assert.equal(control.latency.msFor('GET', ips), 0)
      assert.type(quick, 'number')
      control.latency.clear()
      assert.is(control.latency.msFor('GET', catalogue), 0)
    },
  },
  {
    name: 'the call log shows each call, its fault and the label of its token, never the token',
    async check({ call, control, url }, { ips, order }) {
      control.faults.add({ on: 'POST', answer: 500, done: true, times: 1 })
      await call(`GET ${ips}?limit=100`)
      await call(`POST ${ips}`, order)
      await call('GET /nothing', undefined, 'a-secret')
      await call('GET /ips/x', undefined, 'none')
      const calls = control.calls.all()
      assert.equal(
        calls.map(({ route, caller, status, fault }) => [route, caller, status, fault]),
        [
          ['GET /projects/{id}/ips', 'full', 200, undefined],
          ['POST /projects/{id}/ips', 'full', 500, 'done, then 500'],
          ['GET (no such path)', 'unknown', 401, undefined],
          ['GET /ips/{id}', 'none', 401, undefined],
        ],
      )
      assert.equal([calls[0]?.path, calls[0]?.query], [new URL(url).pathname + ips, 'limit=100'])
      assert.not.match(JSON.stringify(calls), /a-secret/)
      assert.equal(control.calls.counts()['POST /projects/{id}/ips'], 1)
      assert.equal([control.calls.count('/projects/*/ips'), control.calls.all('GET').length], [2, 3])
      control.calls.clear()
      assert.equal([control.calls.count(), control.calls.all()], [0, []])
    },
  },
]

for (const vendor of vendors) {
  for (const { name, check } of rules)
    test(`${vendor.name}: ${name}`, () => vendor.start((simulator) => check(simulator, vendor)))

  const { project, otherProject, ips, machine, machines } = vendor
  const nowhere = 'ffffffff-ffff-4fff-8fff-ffffffffffff'
  const answers: [call: string, route: string, token: string, status: 401 | 403 | 404][] = [
    ['a call without a token', `GET ${ips}`, 'none', 401],
    ['a call with an unknown token', `GET ${ips}`, 'x', 401],
    ['a call without a token to an unknown path', 'GET /nothing', 'none', 401],
    ['a read of a project of others', `GET ${ips.replace(project, otherProject)}`, 'full', 403],
    ['a write with a read-only token', `POST ${ips}`, 'reader', 403],
    ['a call to an unknown path', 'GET /nothing', 'full', 404],
    ['a read of an unknown project', `GET ${machines.replace(project, '1')}`, 'full', 404],
    ['a read of an unknown machine', `GET ${machine}/1`, 'full', 404],
    ['a read of an unknown address', `GET /ips/${nowhere}`, 'full', 404],
    ['the deletion of an unknown address', `DELETE /ips/${nowhere}`, 'full', 404],
  ]
  test(`${vendor.name}: refusals have the status and the form of the vendor`, () =>
    vendor.start(async ({ call }) => {
      for (const [name, route, token, status] of answers) {
        const answer = await call(route, undefined, token)
        assert.is(answer.status, status, name)
        assert.equal(Object.keys(answer.body), Object.keys(vendor.words[status]), name)
      }
      assert.is((await call(`GET ${ips}`, undefined, 'reader')).status, 200)
    }))

  test(`${vendor.name}: calls over a rate limit get 429 and do nothing, until the window ends`, () =>
    vendor.startLimited(async ({ call, clock, control }) => {
      assert.equal([(await call(`GET ${ips}`)).status, (await call(`GET ${ips}`)).status], [200, 200])
      control.faults.add({ on: 'POST', answer: 500, done: true, times: 1 })
      const refused = await call(`POST ${ips}`, vendor.order)
      assert.equal([refused.status, refused.body], [429, vendor.words[429]])
      assert.equal(control.reservations.all(), [])
      clock.now += 10_000
      assert.is((await call(`POST ${ips}`, vendor.order)).status, 500, 'a fault that follows work waits for work')
      assert.is(control.reservations.all().length, 1)
    }))
}

test.run()
