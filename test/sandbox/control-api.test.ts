import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../sandbox/clouds/faults.ts'
import { sendCommand } from './call-api.ts'
import { type Fixture, type Json, idsIn, listIn, project, withMetal } from './metal-fixture.ts'

const ips = `/projects/${project}/ips`
const order = { type: 'public_ipv4', quantity: 1, metro: 'da' }

const command = ({ metal }: Fixture, route: string, body?: string) => sendCommand(metal.controlUrl, route, body)

const statuses: { fault: Fault; type: string; retryAfter: string | null; body: RegExp }[] = [
  { fault: { answer: 401 }, type: 'application/json; charset=utf-8', retryAfter: null, body: /^{"error":"Invalid/ },
  {
    fault: { answer: 403 },
    type: 'application/json; charset=utf-8',
    retryAfter: null,
    body: /^{"errors":\["Access denied/,
  },
  {
    fault: { answer: 404 },
    type: 'application/json; charset=utf-8',
    retryAfter: null,
    body: /^{"errors":\["Not found"\]}$/,
  },
  {
    fault: { answer: 422, message: 'no' },
    type: 'application/json; charset=utf-8',
    retryAfter: null,
    body: /^{"errors":\["no"\]}$/,
  },
  { fault: { answer: 429 }, type: 'application/json; charset=utf-8', retryAfter: null, body: /errors/ },
  {
    fault: { answer: 429, retryAfterSeconds: 7 },
    type: 'application/json; charset=utf-8',
    retryAfter: '7',
    body: /errors/,
  },
  { fault: { answer: 500 }, type: 'application/json; charset=utf-8', retryAfter: null, body: /Oh snap/ },
  { fault: { answer: 502 }, type: 'text/html', retryAfter: null, body: /<h1>502 Bad Gateway<\/h1>/ },
  { fault: { answer: 503 }, type: 'text/html', retryAfter: null, body: /<h1>503 Service Unavailable<\/h1>/ },
]

for (const { fault, type, retryAfter, body } of statuses)
  test(`the fault ${JSON.stringify(fault)} strikes the calls that it names before any work is done`, () =>
    withMetal({}, async ({ metal, call }) => {
      metal.control.faults.add({ on: 'POST /projects/*/ips', ...fault })
      for (let n = 0; n < 2; n += 1) {
        const { status, headers, text } = await call(`POST ${ips}`, order)
        assert.is(status, fault.answer)
        assert.is(headers.get('content-type'), type)
        assert.is(headers.get('retry-after'), retryAfter)
        assert.is(headers.has('x-request-id'), type !== 'text/html')
        assert.match(text, body)
      }
      const list = await call(`GET ${ips}`)
      assert.equal([list.status, list.body['ip_addresses']], [200, []])
      metal.control.faults.clear()
      assert.is((await call(`POST ${ips}`, order)).status, 201)
    }))

const failsWith = async (calling: Promise<unknown>): Promise<string> =>
  await calling.then(
    () => 'it did not fail',
    (error: unknown) => inspect(error),
  )

const took = async (calling: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await calling()
  return performance.now() - started
}

const rules: { name: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    name: 'a reset ends the connection before any work is done',
    async check({ metal, call }) {
      metal.control.faults.add({ on: `POST ${ips}`, answer: 'reset', times: 1 })
      assert.match(await failsWith(call(`POST ${ips}`, order)), /ECONNRESET|other side closed/)
      assert.equal((await call(`GET ${ips}`)).body['ip_addresses'], [])
    },
  },
  {
    name: 'a reset with done loses the answer, but the reservation exists',
    async check({ metal, call }) {
      metal.control.faults.add({ on: 'POST /projects/{id}/ips', answer: 'reset', done: true, times: 1 })
      assert.match(await failsWith(call(`POST ${ips}`, order)), /ECONNRESET|other side closed/)
      assert.is(listIn((await call(`GET ${ips}`)).body, 'ip_addresses').length, 1)
    },
  },
  {
    name: 'a 500 with done reports an error although the work is done',
    async check({ metal, call, reserve }) {
      const { id } = await reserve()
      metal.control.faults.add({ on: 'DELETE /ips/:id', answer: 500, done: true, times: 1 })
      const { status, text } = await call(`DELETE /ips/${String(id)}`)
      assert.equal([status, text.includes('Oh snap')], [500, true])
      assert.is((await call(`GET /ips/${String(id)}`)).status, 404)
    },
  },
  {
    name: 'a call that hangs gets no answer, and does not prevent the cloud from closing',
    async check({ metal }) {
      metal.control.faults.add({ answer: 'hang' })
      const calling = fetch(`${metal.url}/locations/metros`, {
        headers: { 'x-auth-token': 'full' },
        signal: AbortSignal.timeout(200),
      })
      assert.match(await failsWith(calling), /TimeoutError/)
      const still = failsWith(fetch(`${metal.url}/locations/metros`, { headers: { 'x-auth-token': 'full' } }))
      while (metal.control.calls.count() < 2) await sleep(5)
      await metal.close()
      assert.match(await still, /ECONNRESET|other side closed/)
    },
  },
  {
    name: 'a slow answer is late; with done, the work is done before the delay',
    async check({ metal, call }) {
      metal.control.faults.add({ on: 'POST', answer: 'slow', ms: 300, done: true, times: 1 })
      const calling = call(`POST ${ips}`, order)
      while (metal.control.reservations.all().length === 0) await sleep(2)
      assert.is(metal.control.calls.all()[0]?.status, undefined)
      assert.is((await calling).status, 201)
      assert.ok((metal.control.calls.all()[0]?.ms ?? 0) >= 295)
    },
  },
  {
    name: 'a redirect leads to the same URL with plain HTTP or to its location, and no work is done',
    async check({ metal, call }) {
      const post = async () =>
        await fetch(`${metal.url}${ips}`, { method: 'POST', redirect: 'manual', headers: { 'x-auth-token': 'full' } })
      metal.control.faults.add({ on: 'POST', answer: 'redirect', times: 1 })
      metal.control.faults.add({ on: 'POST', answer: 'redirect', location: 'https://elsewhere.test/', times: 1 })
      for (const location of [`${metal.url}${ips}`, 'https://elsewhere.test/']) {
        const { status, headers } = await post()
        assert.equal([status, headers.get('location')], [301, location])
      }
      assert.equal((await call(`GET ${ips}`)).body['ip_addresses'], [])
    },
  },
  {
    name: 'a web-page fault answers 200 with HTML instead of JSON',
    async check({ metal, call }) {
      metal.control.faults.add({ on: 'POST', answer: 'web-page', done: true, times: 1 })
      const { status, headers, text } = await call(`POST ${ips}`, order)
      assert.equal([status, headers.get('content-type')], [200, 'text/html'])
      assert.match(text, /^<html>/)
      assert.is(listIn((await call(`GET ${ips}`)).body, 'ip_addresses').length, 1)
    },
  },
  {
    name: 'an empty-list fault makes a list empty',
    async check({ metal, call, reserve }) {
      const { id } = await reserve()
      metal.control.faults.add({ on: 'GET /projects/*/ips', answer: 'empty-list', times: 1 })
      const { status, body } = await call(`GET ${ips}`)
      assert.equal([status, body['ip_addresses'], (body['meta'] as Json)['total']], [200, [], 0])
      assert.equal(idsIn((await call(`GET ${ips}`)).body, 'ip_addresses'), [id])
    },
  },
  {
    name: 'a short-pages fault makes pages shorter than requested, and meta shows it',
    async check({ metal, call, reserve }) {
      for (let n = 0; n < 5; n += 1) await reserve()
      metal.control.faults.add({ on: 'GET /projects/*/ips', answer: 'short-pages', perPage: 2 })
      const { body } = await call(`GET ${ips}?per_page=100`)
      assert.equal([listIn(body, 'ip_addresses').length, (body['meta'] as Json)['last_page']], [2, 3])
    },
  },
  {
    name: 'a shuffled-list fault gives a list another order in each call',
    async check({ metal, call, reserve }) {
      for (let n = 0; n < 12; n += 1) await reserve()
      metal.control.faults.add({ answer: 'shuffled-list', on: 'GET' })
      const orders = new Set<string>()
      for (let n = 0; n < 4; n += 1) {
        const ids = idsIn((await call(`GET ${ips}`)).body, 'ip_addresses')
        assert.is(new Set(ids).size, 12)
        orders.add(ids.join())
      }
      assert.ok(orders.size > 1)
    },
  },
  {
    name: 'a fault strikes the given number of times, and the fault added first strikes first',
    async check({ metal, call }) {
      metal.control.faults.add({ answer: 500, times: 2 })
      metal.control.faults.add({ on: '/locations/metros', answer: 403 })
      const seen = []
      for (let n = 0; n < 3; n += 1) seen.push((await call('GET /locations/metros')).status)
      assert.equal(seen, [500, 500, 403])
      assert.equal(
        metal.control.faults.all().map(({ id, struck }) => [id, struck]),
        [[2, 1]],
      )
    },
  },
  {
    name: 'latency delays every call, a route may have its own, and the control API has none',
    async check(fixture) {
      const { metal, call } = fixture
      metal.control.latency.set({ ms: 2_000, jitterMs: 5 })
      metal.control.latency.set({ on: 'GET /capacity/**', ms: 0 })
      await call('GET /capacity')
      assert.ok((await took(() => call('GET /locations/metros'))) >= 1_995)
      assert.ok((await took(() => call('GET /capacity/metros'))) < 1_900)
      assert.ok((await took(() => command(fixture, 'GET /latency'))) < 1_900)
      metal.control.latency.clear()
      assert.ok((await took(() => call('GET /locations/metros'))) < 1_900)
    },
  },
  {
    name: 'the call log shows each call, its fault and the label of its token, never the token',
    async check({ metal, call }) {
      metal.control.faults.add({ on: 'POST', answer: 500, done: true, times: 1 })
      await call(`GET ${ips}?include=assignments&per_page=100`)
      await call(`POST ${ips}`, order)
      await call('GET /nothing', undefined, 'a-secret')
      await call('GET /ips/x', undefined, 'none')
      const calls = metal.control.calls.all()
      assert.equal(
        calls.map(({ route, caller, status, fault }) => [route, caller, status, fault]),
        [
          ['GET /projects/{id}/ips', 'full', 200, undefined],
          ['POST /projects/{id}/ips', 'full', 500, 'done, then 500'],
          ['GET (no such path)', 'unknown', 401, undefined],
          ['GET /ips/{id}', 'none', 401, undefined],
        ],
      )
      assert.equal([calls[0]?.path, calls[0]?.query], [`/metal/v1${ips}`, 'include=assignments&per_page=100'])
      assert.not.match(JSON.stringify(calls), /a-secret/)
    },
  },
  {
    name: 'calls are counted by route until the log is cleared',
    async check({ metal, call, reserve }) {
      await reserve()
      await reserve()
      await call(`GET ${ips}`)
      assert.equal(metal.control.calls.counts(), { 'POST /projects/{id}/ips': 2, 'GET /projects/{id}/ips': 1 })
      assert.is(metal.control.calls.count('/projects/*/ips'), 3)
      assert.is(metal.control.calls.all('GET').length, 1)
      metal.control.calls.clear()
      assert.equal([metal.control.calls.count(), metal.control.calls.all()], [0, []])
    },
  },
]

for (const { name, check } of rules) test(name, () => withMetal({}, check))

/** What curl sends, and how the API behaves afterwards. */
const typed: { route: string; body?: string; check: (fixture: Fixture) => Promise<void> }[] = [
  {
    route: 'POST /faults',
    body: '{"answer":"reset"}',
    check: async ({ call }) => assert.match(await failsWith(call(`GET ${ips}`)), /ECONNRESET|other side closed/),
  },
  {
    route: 'PUT /quota',
    body: '{"addresses":0}',
    check: async ({ reserve }) => assert.is((await reserve())['state'], 'pending'),
  },
  {
    route: 'PUT /grants',
    body: '{"mode":"late"}',
    async check(fixture) {
      const { id } = await fixture.reserve({ fail_on_approval_required: true })
      assert.is(((await command(fixture, `POST /reservations/${String(id)}/grant`)).json as Json)['state'], 'created')
      const { id: next } = await fixture.reserve()
      assert.is(((await command(fixture, `POST /reservations/${String(next)}/deny`)).json as Json)['state'], 'denied')
      assert.is((await command(fixture, `DELETE /reservations/${String(next)}`)).status, 200)
      assert.equal(
        ((await command(fixture, 'GET /reservations')).json as Json[]).map((one) => one['id']),
        [id],
      )
    },
  },
  {
    route: 'PUT /deletion',
    body: '{"reservationsMs":1000}',
    async check({ call, reserve }) {
      const { id } = await reserve()
      await call(`DELETE /ips/${String(id)}`)
      assert.is((await call(`GET /ips/${String(id)}`)).status, 200)
    },
  },
  {
    route: 'POST /devices',
    body: '{"hostname":"worker-1","metro":"sv"}',
    async check(fixture) {
      const [device] = (await command(fixture, 'GET /devices')).json as Json[]
      const id = String(device?.['id'])
      const state = async () => (await fixture.call(`GET /devices/${id}`)).body['state']
      await command(fixture, `POST /devices/${id}/power-off`)
      assert.is(await state(), 'inactive')
      await command(fixture, `POST /devices/${id}/power-on`)
      assert.is(await state(), 'active')
      await command(fixture, `PUT /devices/${id}/state`, '{"state":"reinstalling"}')
      assert.is(await state(), 'reinstalling')
      const metadata = (await command(fixture, `GET /devices/${id}/metadata-service/metadata`)).json as Json
      assert.equal([metadata['hostname'], metadata['metro']], ['worker-1', 'sv'])
      const { id: ip } = await fixture.reserve({ metro: 'sv' })
      const machine = `/reservations/${String(ip)}/machine`
      assert.is((await command(fixture, `PUT ${machine}`, JSON.stringify({ machine: id }))).status, 200)
      assert.is(((await fixture.call(`GET /ips/${String(ip)}`)).body['assignments'] as Json[]).length, 1)
      await command(fixture, `DELETE /devices/${id}`)
      assert.is((await fixture.call(`GET /devices/${id}`)).status, 404)
    },
  },
  {
    route: 'PUT /unknowns',
    body: '{"unknownLocation":"422"}',
    check: async ({ call }) => assert.is((await call(`POST ${ips}`, { ...order, metro: 'zz' })).status, 422),
  },
]

for (const { route, body, check } of typed)
  test(`curl -X ${route} -d '${body}' changes the cloud`, () =>
    withMetal({}, async (fixture) => {
      const { status, text } = await command(fixture, route, body)
      assert.is(status, 200, text)
      await check(fixture)
    }))

test('the control API adds, lists and removes faults, latency and logged calls', () =>
  withMetal({}, async (fixture) => {
    await command(fixture, 'POST /faults', '{"answer":503}')
    assert.is((await fixture.call('GET /capacity')).status, 503)
    assert.equal((await command(fixture, 'GET /faults')).json, [{ id: 1, answer: 503, struck: 1 }])
    assert.is((await command(fixture, 'DELETE /faults/1')).status, 200)
    assert.is((await fixture.call('GET /capacity')).status, 200)
    assert.equal((await command(fixture, 'PUT /latency', '{"on":"GET","ms":1}')).json, [{ on: 'GET', ms: 1 }])
    await command(fixture, 'DELETE /latency')
    assert.equal((await command(fixture, 'GET /latency')).json, [])
    assert.equal((await command(fixture, 'GET /calls/counts')).json, { 'GET /capacity': 2 })
    assert.is(((await command(fixture, 'GET /calls?on=GET+/capacity')).json as unknown[]).length, 2)
    await command(fixture, 'DELETE /calls')
    assert.equal((await command(fixture, 'GET /calls')).json, [])
  }))

test('the control API sets the status of BGP configurations and sessions', () =>
  withMetal({}, async (fixture) => {
    const { call, device } = fixture
    await call(`POST /projects/${project}/bgp-configs`, { deployment_type: 'global', asn: 65000 })
    await command(fixture, `PUT /projects/${project}/bgp-status`, '{"status":"enabled"}')
    const { body } = await call(`POST /devices/${device()}/bgp/sessions`, { address_family: 'ipv4' })
    await command(fixture, `PATCH /bgp/sessions/${String(body['id'])}`, '{"status":"up,up"}')
    assert.is((await call(`GET /bgp/sessions/${String(body['id'])}`)).body['status'], 'up,up')
  }))

const mistakes: { name: string; route: string; body?: string; status: number; says: RegExp }[] = [
  {
    name: 'an unknown field',
    route: 'PUT /latency',
    body: '{"ms":1,"jiter":2}',
    status: 400,
    says: /unknown field \\"jiter\\": expected one of on, ms, jitterMs/,
  },
  { name: 'a missing field', route: 'PUT /latency', body: '{}', status: 400, says: /required property 'ms'/ },
  { name: 'a body that is not JSON', route: 'PUT /latency', body: 'ms=1', status: 400, says: /not JSON/ },
  { name: 'an unknown answer', route: 'POST /faults', body: '{"answer":"explode"}', status: 400, says: /answer/ },
  {
    name: 'a status that is not an error',
    route: 'POST /faults',
    body: '{"answer":200}',
    status: 400,
    says: /from 400 to 599/,
  },
  {
    name: 'an unknown method',
    route: 'POST /faults',
    body: '{"on":"PSOT /x","answer":500}',
    status: 400,
    says: /like \\"POST/,
  },
  { name: 'slow without a delay', route: 'POST /faults', body: '{"answer":"slow"}', status: 400, says: /needs/ },
  { name: 'an unknown fault', route: 'DELETE /faults/9', status: 404, says: /no fault has the id 9/ },
  { name: 'an unknown reservation', route: 'POST /reservations/x/grant', status: 404, says: /no reservation/ },
  {
    name: 'an unknown metro',
    route: 'POST /devices',
    body: '{"hostname":"a","metro":"zz"}',
    status: 400,
    says: /no metro/,
  },
  { name: 'an unknown command', route: 'GET /fault', status: 404, says: /GET \/control lists them/ },
]

for (const { name, route, body, status, says } of mistakes)
  test(`the control API explains a mistake: ${name}`, () =>
    withMetal({}, async (fixture) => {
      const answer = await command(fixture, route, body)
      assert.is(answer.status, status)
      assert.match(answer.text, says)
    }))

test('the control API has a help page', () =>
  withMetal({}, async (fixture) => {
    const { text } = await command(fixture, 'GET ')
    assert.match(text, 'PUT    /control/latency')
    assert.match(text, `-d '{"on":"POST /projects/*/ips","answer":500,"done":true,"times":1}'`)
  }))

test.run()
