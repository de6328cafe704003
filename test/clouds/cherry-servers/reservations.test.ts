import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault, Reservation } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { apiKey, cherryIp, ips, lithuania, ownIp, projectId, reserved } from './fixtures.ts'
import { asked, list, refusal, type Routes, withRoutes } from './scripted-cherry.ts'

const { id, marks } = reserved
const ip = `/v1/ips/${id}`
const forbidden = refusal(403, 'No permission')

/** But for when it was seen first. */
const undated = (one: Reservation | undefined) => {
  const { createdAt, ...found } = one ?? {}
  return [found, Math.abs(Date.parse(createdAt ?? '') - Date.now()) < 60_000]
}

const reserve = (routes: Routes, location = 'LT-Siauliai') =>
  withRoutes(routes, (cloud) => cloud.reserve({ location, marks }, neverAborted))
const find = (routes: Routes) => withRoutes(routes, (cloud) => cloud.reservation(id, neverAborted))
const release = (routes: Routes) =>
  withRoutes(routes, async (cloud, seen) => {
    await cloud.release({ id, marks: {} }, neverAborted)
    return asked(seen)
  })

test('an address is reserved in one call, with the documented fields and no other', async () => {
  await withRoutes({ [`POST ${ips}`]: { status: 201, json: cherryIp() } }, async (cloud, seen) => {
    assert.equal(undated(await cloud.reserve({ location: 'LT-Siauliai', marks }, neverAborted)), [reserved, true])
    assert.is(seen.length, 1)
    assert.is(seen[0]?.headers.authorization, `Bearer ${apiKey}`)
    assert.equal(seen[0]?.body, { region: 'LT-Siauliai', tags: { usage: 'u', service: 's==', cluster: 'c' } })
  })
})

for (const word of ['EU-Nord-1', 'eu_nord_1', 'Lithuania', 'lt', '1', 'lt-siauliai'])
  test(`the region that people call ${word} is found when its name is refused`, async () => {
    const order: Routes[string] = ({ body }) => {
      const { region } = body as { region: string }
      return region === 'LT-Siauliai' ? { status: 201, json: cherryIp() } : refusal(400, 'Given region was not found.')
    }
    await withRoutes({ [`POST ${ips}`]: order, 'GET /v1/regions': list(lithuania) }, async (cloud, seen) => {
      const { location } = await cloud.reserve({ location: word, marks }, neverAborted)
      assert.is(location, 'LT-Siauliai')
      assert.equal(asked(seen), [`POST ${ips}`, 'GET /v1/regions', `POST ${ips}`])
    })
  })

for (const regions of [list(lithuania), refusal(500, 'Oh'), forbidden, { json: {} }])
  test(`a region that nobody knows is refused in the words of the provider (${JSON.stringify(regions).slice(0, 40)})`, async () => {
    const routes = { [`POST ${ips}`]: refusal(400, 'Given region was not found.'), 'GET /v1/regions': regions }
    const error = await cloudErrorOf(reserve(routes, 'XX-Nowhere'))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, 'Given region was not found; check that "XX-Nowhere" is a region')
  })

for (const address of [undefined, null, '', '0.0.0.0'])
  test(`a reservation with ${String(address)} for an address is requested`, async () => {
    const { state, address: found } = await reserve({ [`POST ${ips}`]: { status: 201, json: cherryIp({ address }) } })
    assert.equal([state, found], ['requested', undefined])
  })

for (const reply of [{ status: 201 }, { status: 201, json: {} }, { status: 502, text: '<p>' }, 'cut'] as Reply[])
  test(`after ${JSON.stringify(reply)} an address may have been bought`, async () => {
    await withRoutes({ [`POST ${ips}`]: reply }, async (cloud, seen) => {
      const error = await cloudErrorOf(cloud.reserve({ location: 'LT-Siauliai', marks }, neverAborted))
      assert.equal([error.fault, error.outcome, seen.length], ['unavailable', 'unknown', 1])
    })
  })

const refusals: { reply: Reply; fault: Fault; says: string }[] = [
  { reply: refusal(401, 'No valid API key'), fault: 'auth', says: 'No valid API key; check that the API key' },
  { reply: forbidden, fault: 'auth', says: `may read and write in project ${projectId}` },
  { reply: refusal(404, 'Not there'), fault: 'invalid', says: `${projectId} the id of a project` },
  { reply: refusal(400, 'The limit of floating IPs is reached'), fault: 'quota', says: 'limit of floating IPs' },
  { reply: refusal(400, 'Quota exceeded'), fault: 'quota', says: 'delete addresses that are not used' },
  { reply: { status: 400, json: { errors: ['tags', 'region'] } }, fault: 'invalid', says: 'tags; region' },
  { reply: { status: 400, json: { error: 'Bad' } }, fault: 'invalid', says: 'Bad' },
  { reply: refusal(429, 'Slow down'), fault: 'rate-limit', says: 'Slow down' },
]
for (const { reply, fault, says } of refusals)
  test(`a reservation refused with ${JSON.stringify(reply)} is ${fault}`, async () => {
    const error = await cloudErrorOf(reserve({ [`POST ${ips}`]: reply, 'GET /v1/regions': list(lithuania) }))
    assert.equal([error.fault, error.outcome], [fault, 'nothing'])
    assert.match(error.message, says)
  })

test('floating IPs alone are listed, whatever else the project has', async () => {
  const items = [ownIp('198.51.100.10', 'primary-ip'), ownIp('10.0.0.0', 'subnet'), cherryIp({ id: null }), cherryIp()]
  await withRoutes({ [`GET ${ips}`]: list(...items) }, async (cloud) => {
    const found = await cloud.reservations({}, neverAborted)
    assert.equal(found.map(undated), [[reserved, true]])
  })
})

test('an address is as old as it is known to be', async () => {
  await withRoutes({ [`GET ${ips}`]: list(cherryIp()), [`GET ${ip}`]: { json: cherryIp() } }, async (cloud) => {
    const [first] = await cloud.reservations({}, neverAborted)
    await new Promise((later) => setTimeout(later, 5))
    assert.equal(await cloud.reservation(id, neverAborted), first)
  })
})

test('an address that no longer exists is undefined', async () => {
  assert.is(await find({ [`GET ${ip}`]: refusal(404, 'Not there') }), undefined)
})

test('an address that cannot be read no longer exists when a good list does not have it', async () => {
  assert.is(await find({ [`GET ${ip}`]: forbidden, [`GET ${ips}`]: list(cherryIp({ id: 'other' })) }), undefined)
  assert.is(await find({ [`GET ${ip}`]: forbidden, [`GET ${ips}`]: list() }), undefined)
})

test('an address that cannot be read is what the list says of it', async () => {
  assert.equal(undated(await find({ [`GET ${ip}`]: forbidden, [`GET ${ips}`]: list(cherryIp()) })), [reserved, true])
})

const notGone: { reply: Reply; list: Reply; fault: Fault }[] = [
  { reply: forbidden, list: forbidden, fault: 'auth' },
  { reply: forbidden, list: refusal(404, 'No'), fault: 'invalid' },
  { reply: forbidden, list: refusal(500, 'Oh'), fault: 'unavailable' },
  { reply: forbidden, list: { json: {} }, fault: 'unavailable' },
  { reply: refusal(401, 'Who?'), list: list(), fault: 'auth' },
  { reply: refusal(503, 'Later'), list: list(), fault: 'unavailable' },
  { reply: { status: 404, text: '<html>' }, list: list(), fault: 'unavailable' },
  { reply: { status: 403, text: '<html>' }, list: list(), fault: 'unavailable' },
  { reply: { json: ownIp('198.51.100.10', 'primary-ip') }, list: list(), fault: 'invalid' },
  { reply: { json: {} }, list: list(), fault: 'invalid' },
]
for (const { reply, list, fault } of notGone)
  test(`an address is not gone because of ${JSON.stringify({ reply, list }).slice(0, 110)}`, async () => {
    assert.is((await cloudErrorOf(find({ [`GET ${ip}`]: reply, [`GET ${ips}`]: list }))).fault, fault)
  })

test('a release looks first and then deletes', async () => {
  const routes = { [`GET ${ip}`]: { json: cherryIp() }, [`DELETE ${ip}`]: { status: 204 } }
  assert.equal(await release(routes), [`GET ${ip}`, `DELETE ${ip}`])
})

test('a release of a missing address is done', async () => {
  assert.equal(await release({ [`GET ${ip}`]: refusal(404, 'Not there') }), [`GET ${ip}`])
  const routes = { [`GET ${ip}`]: { json: cherryIp() }, [`DELETE ${ip}`]: refusal(404, 'Not there') }
  assert.equal(await release(routes), [`GET ${ip}`, `DELETE ${ip}`])
  const went = { [`GET ${ip}`]: { json: cherryIp() }, [`DELETE ${ip}`]: forbidden, [`GET ${ips}`]: list() }
  assert.equal(await release(went), [`GET ${ip}`, `DELETE ${ip}`, `GET ${ips}`])
})

for (const listed of [list(cherryIp()), forbidden, { json: {} }])
  test(`a release that is forbidden is not done when the list says ${JSON.stringify(listed).slice(0, 40)}`, async () => {
    const routes = { [`GET ${ip}`]: { json: cherryIp() }, [`DELETE ${ip}`]: forbidden, [`GET ${ips}`]: listed }
    assert.ok(await cloudErrorOf(release(routes)))
  })

const uses = [
  { targeted_to: { id: 640117, hostname: 'k8s-cp-1' } },
  { targeted_to: null, routed_to: { id: 'p', address: '198.51.100.10' } },
]
for (const use of uses)
  test(`an address that goes to ${JSON.stringify(use)} is not deleted`, async () => {
    await withRoutes({ [`GET ${ip}`]: { json: cherryIp(use) } }, async (cloud, seen) => {
      const error = await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted))
      assert.equal([error.fault, error.outcome, seen.length], ['conflict', 'nothing', 1])
      assert.match(error.message, /is assigned to (server 640117|address 198\.51\.100\.10), so it is not deleted/)
    })
  })

for (const none of [{ targeted_to: { id: 0 }, routed_to: null }, { targeted_to: null }])
  test(`${JSON.stringify(none)} is no use of an address`, async () => {
    const routes = { [`GET ${ip}`]: { json: cherryIp(none) }, [`DELETE ${ip}`]: { status: 204 } }
    assert.equal(await release(routes), [`GET ${ip}`, `DELETE ${ip}`])
  })

test('an address that comes into use in between is a conflict, to be tried again', async () => {
  const routes = { [`GET ${ip}`]: { json: cherryIp() }, [`DELETE ${ip}`]: refusal(400, 'Attached IP address') }
  assert.is((await cloudErrorOf(release(routes))).fault, 'conflict')
})

test('tags are changed with all the others as they were, and nothing else is sent', async () => {
  const tags = { usage: 'u', waiting: 'yes', team: 'edge', empty: '' }
  const routes = { [`GET ${ip}`]: { json: cherryIp({ tags }) }, [`PUT ${ip}`]: { json: cherryIp() } }
  await withRoutes(routes, async (cloud, seen) => {
    await cloud.mark({ id, marks: {} }, { service: 's', waiting: undefined }, neverAborted)
    assert.equal(seen[1]?.body, { tags: { usage: 'u', team: 'edge', empty: '', service: 's' } })
  })
})

for (const tags of [null, [], undefined])
  test(`an address with ${JSON.stringify(tags)} for tags has no marks, and can get some`, async () => {
    const routes = { [`GET ${ip}`]: { json: cherryIp({ tags }) }, [`PUT ${ip}`]: { json: cherryIp() } }
    await withRoutes(routes, async (cloud, seen) => {
      assert.equal((await cloud.reservation(id, neverAborted))?.marks, {})
      await cloud.mark({ id, marks: {} }, { service: 's' }, neverAborted)
      assert.equal(seen.at(-1)?.body, { tags: { service: 's' } })
    })
  })

test.run()
