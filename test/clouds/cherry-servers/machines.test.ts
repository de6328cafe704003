import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply, type Seen } from '../scripted-server.ts'
import { cherryServer, listed, servers, serverSecrets } from './fixtures.ts'
import { asked, list, refusal, type Routes, withRoutes } from './scripted-cherry.ts'

const { id } = listed
const server = `/v1/servers/${id}`
const html: Reply = { status: 404, text: '<html>', headers: { 'content-type': 'text/html' } }

const find = (routes: Routes) => withRoutes(routes, (cloud) => cloud.machine(id, neverAborted))

/** A server that also says whether it has power, when that alone is asked for. */
const withPower =
  (power: Reply, changes = {}) =>
  ({ query }: Seen): Reply =>
    query.get('fields') === 'power' ? power : { json: cherryServer(changes) }

for (const [power, state] of Object.entries({ on: 'on', off: 'off', 'powering-off': 'changing' }))
  test(`a machine whose power is ${power} is ${state}`, async () => {
    await withRoutes({ [`GET ${server}`]: withPower({ json: { power } }) }, async (cloud, seen) => {
      assert.equal(await cloud.machine(id, neverAborted), { ...listed, state })
      assert.equal(
        seen.map(({ query }) => query.toString()),
        ['', 'fields=power'],
      )
    })
  })

for (const answer of [{}, { power: null }, cherryServer()])
  test(`a machine that says nothing of its power is on (${JSON.stringify(answer).slice(0, 20)})`, async () => {
    assert.is((await find({ [`GET ${server}`]: withPower({ json: answer }) }))?.state, 'on')
  })

for (const power of [refusal(404, 'Not there'), refusal(500, 'Oh'), 'cut'] as Reply[])
  test(`nothing is said of a machine whose power cannot be read (${JSON.stringify(power)})`, async () => {
    assert.is((await cloudErrorOf(find({ [`GET ${server}`]: withPower(power) }))).outcome, 'nothing')
  })

for (const changes of [{ state: 'provisioning' }, { state: 'terminating' }, { status: 'deploying' }, { state: null }])
  test(`a machine with ${JSON.stringify(changes)} is changing, whatever its power`, async () => {
    assert.is((await find({ [`GET ${server}`]: withPower('cut', changes) }))?.state, 'changing')
  })

test('machines are listed in one call, which does not say which of them are off', async () => {
  const items = [cherryServer(), cherryServer({ id: null }), cherryServer({ id: 7, state: 'inactive' })]
  await withRoutes({ [`GET ${servers}`]: list(...items) }, async (cloud, seen) => {
    assert.equal(await cloud.machines(neverAborted), [listed, { ...listed, id: '7', state: 'off' }])
    assert.is(seen.length, 1)
  })
})

test('a machine that no longer exists was looked for by a key that sees its project', async () => {
  const routes = { [`GET ${server}`]: refusal(404, 'Not there'), [`GET ${servers}`]: list() }
  await withRoutes(routes, async (cloud, seen) => {
    assert.is(await cloud.machine(id, neverAborted), undefined)
    assert.equal(asked(seen), [`GET ${server}`, `GET ${servers}`])
    assert.is(seen[1]?.query.get('limit'), '1')
  })
})

const gone = refusal(404, 'Not there')
const doubts: { name: string; server: Reply; list: Reply; fault: Fault; says: string }[] = [
  { name: 'a 404 of which the project says 404 too', server: gone, list: gone, fault: 'invalid', says: 'project id' },
  { name: 'a 404 beside a forbidden list', server: gone, list: refusal(403, 'No'), fault: 'auth', says: 'API key' },
  { name: 'a 404 beside no list', server: gone, list: { json: {} }, fault: 'unavailable', says: 'no list' },
  { name: 'a 404 of a proxy', server: html, list: list(), fault: 'unavailable', says: '404 with text/html' },
  { name: 'a 403', server: refusal(403, 'No'), list: list(), fault: 'auth', says: 'API key' },
  { name: 'a 401', server: refusal(401, 'Who?'), list: list(), fault: 'auth', says: 'Who?' },
  { name: 'a 503', server: { status: 503 }, list: list(), fault: 'unavailable', says: 'answered 503' },
  { name: 'a cut connection', server: 'cut', list: list(), fault: 'unavailable', says: 'broke off' },
  { name: 'no body', server: { status: 200 }, list: list(), fault: 'unavailable', says: 'another object than' },
  { name: 'no id', server: { json: { id: 0 } }, list: list(), fault: 'unavailable', says: 'another object than' },
]
for (const { name, server: reply, list, fault, says } of doubts)
  test(`a machine is not gone by ${name}`, async () => {
    const error = await cloudErrorOf(find({ [`GET ${server}`]: reply, [`GET ${servers}`]: list }))
    assert.equal([error.fault, error.outcome], [fault, 'nothing'])
    assert.match(error.message, says)
  })

test('what a machine keeps secret is in no machine, no peer and no error', async () => {
  const answers: Reply[] = [
    { json: cherryServer() },
    ...[400, 403, 404, 500].map((status) => ({ status, json: cherryServer() })),
    { json: cherryServer({ id: null }) },
    { json: [cherryServer({ region: null })], headers: { 'x-total-count': '1' } },
  ]
  for (const answer of answers) {
    const said = await withRoutes({ [`GET ${server}`]: answer, [`GET ${servers}`]: answer }, (cloud) =>
      Promise.allSettled([
        cloud.machine(id, neverAborted),
        cloud.machines(neverAborted),
        cloud.peering.peers(id, neverAborted),
      ]),
    )
    for (const secret of serverSecrets) assert.not.match(inspect(said, { depth: null, showHidden: true }), secret)
  }
})

test.run()
