// The control API as a person uses it: with curl, which sends JSON as a form.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Json, sendCommand } from './call-api.ts'
import { type Simulator, type Vendor, vendors } from './contract.ts'

type Typed = { route: string; body?: string; check: (simulator: Simulator, vendor: Vendor) => Promise<void> }

const typed: Typed[] = [
  {
    route: 'POST /faults',
    body: '{"answer":503}',
    async check({ call, controlUrl }, { catalogue }) {
      assert.is((await call(`GET ${catalogue}`)).status, 503)
      assert.equal((await sendCommand(controlUrl, 'GET /faults')).json, [{ id: 1, answer: 503, struck: 1 }])
      await sendCommand(controlUrl, 'DELETE /faults/1')
      assert.is((await call(`GET ${catalogue}`)).status, 200)
      const logged = (await sendCommand(controlUrl, 'GET /calls')).json
      assert.is(JSON.stringify(logged).match(/"path"/g)?.length, 2)
    },
  },
  {
    route: 'PUT /latency',
    body: '{"on":"GET","ms":1}',
    async check({ control }) {
      assert.equal([control.latency.msFor('GET', '/x'), control.latency.msFor('POST', '/x')], [1, 0])
    },
  },
  {
    route: 'PUT /quota',
    body: '{"addresses":0}',
    async check({ call }, { ips, order, overQuota }) {
      assert.is((await call(`POST ${ips}`, order)).status, overQuota)
    },
  },
  {
    route: 'PUT /deletion',
    body: '{"reservationsMs":0}',
    async check({ call, control, reserve }) {
      await call(`DELETE /ips/${await reserve()}`)
      assert.equal(control.reservations.all(), [])
    },
  },
  {
    route: 'POST /devices',
    body: '{"hostname":"worker-1"}',
    async check({ call, control, controlUrl, isOn, reserve }, { machine }) {
      const [device] = (await sendCommand(controlUrl, 'GET /devices')).json as Json[]
      const id = String(device?.['id'])
      await sendCommand(controlUrl, `POST /devices/${id}/power-off`)
      assert.is(await isOn(id), false)
      await sendCommand(controlUrl, `POST /devices/${id}/power-on`)
      assert.is(await isOn(id), true)
      const ip = await reserve()
      const assigned = async () => {
        const { body } = await call(`GET /ips/${ip}`)
        return body['targeted_to'] !== undefined || ((body['assignments'] ?? []) as Json[]).length > 0
      }
      for (const to of [id, undefined]) {
        const body = JSON.stringify({ machine: to })
        assert.is((await sendCommand(controlUrl, `PUT /reservations/${ip}/machine`, body)).status, 200)
        assert.is(await assigned(), to !== undefined)
      }
      control.reservations.vanish(ip)
      assert.is((await call(`GET /ips/${ip}`)).status, 404)
      await sendCommand(controlUrl, `DELETE /devices/${id}`)
      assert.is((await call(`GET ${machine}/${id}`)).status, 404)
    },
  },
]

const mistakes: { route: string; body?: string; status: number; says: RegExp }[] = [
  {
    route: 'PUT /latency',
    body: '{"ms":1,"jiter":2}',
    status: 400,
    says: /unknown field \\"jiter\\": expected one of/,
  },
  { route: 'PUT /latency', body: '{}', status: 400, says: /required property 'ms'/ },
  { route: 'PUT /latency', body: '{"ms":"1"}', status: 400, says: /ms must be/ },
  { route: 'PUT /latency', body: 'ms=1', status: 400, says: /not JSON/ },
  { route: 'POST /faults', body: '{"answer":"explode"}', status: 400, says: /answer/ },
  { route: 'POST /faults', body: '{"answer":200}', status: 400, says: /from 400 to 599/ },
  { route: 'POST /faults', body: '{"on":"PSOT /x","answer":500}', status: 400, says: /like \\"POST/ },
  { route: 'POST /faults', body: '{"answer":"slow"}', status: 400, says: /needs/ },
  { route: 'DELETE /faults/9', status: 404, says: /no fault has the id 9/ },
  { route: 'POST /devices', body: '{"hostname":"a","metro":"zz","region":"zz"}', status: 400, says: /unknown field/ },
  { route: 'POST /devices/1/power-off', status: 404, says: /has the id/ },
  { route: 'PUT /unknowns', body: '{"listOrder":"random"}', status: 400, says: /listOrder/ },
  { route: 'GET /fault', status: 404, says: /GET \/control lists them/ },
]

for (const vendor of vendors) {
  for (const { route, body, check } of typed)
    test(`${vendor.name}: curl -X ${route} -d '${body}' changes the provider`, () =>
      vendor.start(async (simulator) => {
        const { status, text } = await sendCommand(simulator.controlUrl, route, body)
        assert.is(status, 200, text)
        await check(simulator, vendor)
      }))

  test(`${vendor.name}: the control API explains mistakes, and has a help page`, () =>
    vendor.start(async ({ controlUrl }) => {
      for (const { route, body, status, says } of mistakes) {
        const answer = await sendCommand(controlUrl, route, body)
        assert.is(answer.status, status, `${route} ${body}`)
        assert.match(answer.text, says)
      }
      const { text } = await sendCommand(controlUrl, 'GET ')
      assert.match(text, 'PUT    /control/latency')
      assert.match(text, `-d '{"on":"POST /projects/*/ips","answer":500,"done":true,"times":1}'`)
    }))
}

test.run()
