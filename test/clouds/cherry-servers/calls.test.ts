import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { WholeVendor } from '../../../clouds/ports/cloud-provider.ts'
import { cloudErrorOf, failureOf, neverAborted, startScript } from '../scripted-server.ts'
import { apiKey, cherryAt } from './fixtures.ts'
import { list } from './scripted-cherry.ts'

/** Every call of the client, by the name that metrics give it. */
const calls: Record<string, (cloud: WholeVendor) => Promise<unknown>> = {
  reserve: (cloud) => cloud.reserve({ location: 'LT-Siauliai', marks: {} }, neverAborted),
  reservation: (cloud) => cloud.reservation('id', neverAborted),
  reservations: (cloud) => cloud.reservations({}, neverAborted),
  locations: (cloud) => cloud.locations(neverAborted),
  machine: (cloud) => cloud.machine('id', neverAborted),
  machines: (cloud) => cloud.machines(neverAborted),
  peering: (cloud) => cloud.peering.project(neverAborted),
  'enable-peering': (cloud) => cloud.peering.enable({ asn: undefined, password: undefined }, neverAborted),
  'enable-session': (cloud) => cloud.peering.enableOn('id', neverAborted),
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name} never repeats the API key, though the provider does`, async () => {
    for (const status of [400, 401, 403, 409, 429]) {
      await using server = await startScript(() => ({ status, json: { code: status, message: `${apiKey} is bad` } }))
      const error = await cloudErrorOf(call(cherryAt(server.url)))
      assert.match(error.message, '[redacted] is bad')
      assert.not.match(`${error.message} ${error.stack} ${JSON.stringify(error)}`, apiKey)
    }
  })

  test(`${name} goes by that name`, async () => {
    const seen: string[] = []
    await using server = await startScript(() => ({ status: 500, json: {} }))
    await cloudErrorOf(call(cherryAt(server.url, { observe: ({ call }) => seen.push(call) })))
    assert.is(seen[0], name)
  })

  test(`${name} follows no redirect to another host`, async () => {
    await using elsewhere = await startScript(() => ({ json: {} }))
    await using server = await startScript(() => ({ status: 301, headers: { location: elsewhere.url } }))
    const error = await cloudErrorOf(call(cherryAt(server.url)))
    assert.match(error.message, 'a redirect; a read follows a few, to the same host')
    assert.equal([server.seen.length, elsewhere.seen.length], [1, 0])
  })
}

for (const path of ['', '/', '/v1', '/v1/'])
  test(`the base URL may end in "${path}"`, async () => {
    await using server = await startScript(() => list())
    await cherryAt(`${server.url}${path}`).reservations({}, neverAborted)
    assert.match(server.seen[0]?.path ?? '', /^\/v1\/projects\//)
  })

for (const wrong of ['http://api.cherryservers.com', 'https://me:pw@api.cherryservers.com', 'https://h/?x=1', 'cherry'])
  test(`no call goes to ${wrong}`, async () => {
    const error = await failureOf((async () => cherryAt(wrong))())
    assert.match(String(error), 'Cherry Servers: base URL')
  })

test('calls and their retries together stay below four a second', async () => {
  const times: number[] = []
  await using server = await startScript((_request, nth) => {
    times.push(performance.now())
    return nth % 2 === 1 ? { status: 500, json: {} } : list()
  })
  const cloud = cherryAt(server.url, { rate: undefined })
  const fromMs = performance.now()
  await Promise.all(
    Array.from('abcdef', (id) => id).map((id) => cloud.peering.enableOn(id, neverAborted).catch(() => {})),
  )
  await Promise.all([cloud.reservations({}, neverAborted), cloud.machines(neverAborted), cloud.locations(neverAborted)])
  const seconds = ((times.at(-1) ?? 0) - fromMs) / 1000
  assert.ok(times.length >= 12, `${times.length} calls`)
  assert.ok((times.length - 1) / seconds < 4, `${times.length} calls in ${seconds} s`)
})

test.run()
