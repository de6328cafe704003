import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { apiKey, dallas, ips, metalReservation, projectId, reserved } from './fixtures.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { asked, errors, withRoutes } from './scripted-metal.ts'

const id = reserved.id
const marks = { usage: 'u', service: 's==', cluster: 'c' }

test('an address is reserved in one call, with the documented fields and no other', async () => {
  await withRoutes({ [`POST ${ips}`]: { status: 201, json: metalReservation() } }, async (cloud, seen) => {
    assert.equal(await cloud.reserve({ location: ' DA ', marks }, neverAborted), reserved)
    assert.is(seen.length, 1)
    const { headers, body } = seen[0]!
    assert.is(headers['x-auth-token'], apiKey)
    assert.equal(body, {
      type: 'public_ipv4',
      quantity: 1,
      metro: 'da',
      details: 'Reserved by eip-admission',
      tags: ['usage=u', 'service=s==', 'cluster=c'],
      fail_on_approval_required: true,
    })
  })
})

for (const location of ['da11', 'EWR1', 'sv15', 'abc'])
  test(`${location} is asked for as a facility`, async () => {
    await withRoutes({ [`POST ${ips}`]: { status: 201, json: metalReservation() } }, async (cloud, seen) => {
      await cloud.reserve({ location, marks }, neverAborted)
      const { metro, facility } = seen[0]!.body as { metro?: string; facility?: string }
      assert.equal([metro, facility], [undefined, location.toLowerCase()])
    })
  })

const grants = [
  {
    name: 'a reservation that needs approval is requested',
    changes: { state: 'pending', address: null },
    state: 'requested',
  },
  { name: 'a reservation that was denied is denied', changes: { state: 'denied', address: null }, state: 'denied' },
]
for (const { name, changes, state } of grants)
  test(name, async () => {
    await withRoutes({ [`POST ${ips}`]: { status: 201, json: metalReservation(changes) } }, async (cloud) => {
      const reservation = await cloud.reserve({ location: 'da', marks }, neverAborted)
      assert.equal([reservation.state, reservation.address], [state, undefined])
    })
  })

const lost: Reply[] = [
  { status: 201 },
  { status: 201, json: {} },
  { status: 201, text: '<p>' },
  { status: 500, json: {} },
  'cut',
]
for (const reply of lost)
  test(`after ${JSON.stringify(reply)} an address may have been bought`, async () => {
    await withRoutes({ [`POST ${ips}`]: reply }, async (cloud, seen) => {
      const error = await cloudErrorOf(cloud.reserve({ location: 'da', marks }, neverAborted))
      assert.equal([error.fault, error.outcome, seen.length], ['unavailable', 'unknown', 1])
    })
  })

const refusals: { reply: Reply; fault: Fault; says: string }[] = [
  {
    reply: { status: 401, json: { error: 'Invalid authentication token' } },
    fault: 'auth',
    says: 'Invalid authentication token; check that the API key',
  },
  { reply: errors(403, 'Access denied'), fault: 'auth', says: `may read and write in project ${projectId}` },
  {
    reply: errors(404, 'Not found'),
    fault: 'invalid',
    says: 'Not found; check that "zz" is a metro of Equinix Metal and',
  },
  { reply: errors(409, 'Busy'), fault: 'conflict', says: 'Busy' },
  {
    reply: errors(422, 'metro is unknown', 'tags too long'),
    fault: 'invalid',
    says: 'metro is unknown; tags too long',
  },
  { reply: errors(422), fault: 'invalid', says: 'answered 422' },
  { reply: errors(422, 'Quota reached'), fault: 'quota', says: 'have the limit of the project raised' },
  { reply: errors(422, 'IP address limit of 256'), fault: 'quota', says: 'limit of 256' },
  { reply: errors(422, 'insufficient public IPv4 space'), fault: 'quota', says: 'insufficient' },
  { reply: errors(422, 'Request requires manual approval'), fault: 'quota', says: 'approval' },
  { reply: errors(429, 'Slow down'), fault: 'rate-limit', says: 'Slow down' },
  { reply: { status: 429 }, fault: 'rate-limit', says: 'answered 429 with an empty body' },
]
for (const { reply, fault, says } of refusals) {
  const calls = fault === 'rate-limit' ? 4 : 1
  test(`a reservation refused with ${JSON.stringify(reply)} is ${fault}`, async () => {
    await withRoutes({ [`POST ${ips}`]: reply }, async (cloud, seen) => {
      const error = await cloudErrorOf(cloud.reserve({ location: 'zz', marks }, neverAborted))
      assert.equal([error.fault, error.outcome, seen.length], [fault, 'nothing', calls])
      assert.match(error.message, says)
    })
  })
}

test('a reservation is found by its id', async () => {
  await withRoutes({ [`GET /ips/${id}`]: { json: metalReservation() } }, async (cloud) => {
    assert.equal(await cloud.reservation(id, neverAborted), reserved)
  })
})

test('a reservation that no longer exists is undefined', async () => {
  await withRoutes({ [`GET /ips/${id}`]: errors(404, 'Not found') }, async (cloud) => {
    assert.is(await cloud.reservation(id, neverAborted), undefined)
  })
})

const notGone: { reply: Reply; fault: Fault }[] = [
  { reply: errors(403, 'Access denied'), fault: 'auth' },
  { reply: errors(401, 'Invalid'), fault: 'auth' },
  { reply: { status: 404, text: '<html>', headers: { 'content-type': 'text/html' } }, fault: 'unavailable' },
  { reply: errors(503, 'Later'), fault: 'unavailable' },
  { reply: { json: metalReservation({ type: 'IPAssignment', assigned_to: { href: '/d' } }) }, fault: 'invalid' },
  { reply: { json: metalReservation({ type: 'private_ipv4' }) }, fault: 'invalid' },
  { reply: { json: {} }, fault: 'invalid' },
]
for (const { reply, fault } of notGone)
  test(`a reservation is not gone because of ${JSON.stringify(reply).slice(0, 60)}: ${fault}`, async () => {
    await withRoutes({ [`GET /ips/${id}`]: reply }, async (cloud) => {
      const error = await cloudErrorOf(cloud.reservation(id, neverAborted))
      assert.is(error.fault, fault)
    })
  })

test('a release looks first and then deletes', async () => {
  const routes = { [`GET /ips/${id}`]: { json: metalReservation() }, [`DELETE /ips/${id}`]: { status: 204 } }
  await withRoutes(routes, async (cloud, seen) => {
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(asked(seen), [`GET /ips/${id}`, `DELETE /ips/${id}`])
  })
})

test('a release of a missing reservation is done', async () => {
  await withRoutes({ [`GET /ips/${id}`]: errors(404, 'Not found') }, async (cloud, seen) => {
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(asked(seen), [`GET /ips/${id}`])
  })
})

test('a release that another process completed first is done', async () => {
  const routes = { [`GET /ips/${id}`]: { json: metalReservation() }, [`DELETE /ips/${id}`]: errors(404, 'Not found') }
  await withRoutes(routes, async (cloud, seen) => {
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.is(seen.length, 2)
  })
})

for (const changes of [{ type: 'IPAssignment', assigned_to: { href: '/d' } }, { type: 'public_ipv6' }, { type: null }])
  test(`${JSON.stringify(changes)} is never deleted`, async () => {
    await withRoutes({ [`GET /ips/${id}`]: { json: metalReservation(changes) } }, async (cloud, seen) => {
      const error = await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted))
      assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
      assert.match(error.message, `${id} is `)
      assert.equal(asked(seen), [`GET /ips/${id}`])
    })
  })

const forbidden = {
  [`GET /ips/${id}`]: { json: metalReservation() },
  [`DELETE /ips/${id}`]: errors(403, 'Access denied'),
}

test('a forbidden release of a reservation that the list no longer has is done', async () => {
  await withRoutes({ ...forbidden, [`GET ${ips}`]: { json: { ip_addresses: [] } } }, async (cloud, seen) => {
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.equal(asked(seen).at(-1), `GET ${ips}`)
  })
})

const stillThere: { name: string; list: Reply }[] = [
  { name: 'the list still has it', list: { json: { ip_addresses: [metalReservation()] } } },
  { name: 'the list is forbidden too', list: errors(403, 'Access denied') },
  { name: 'the list is no list', list: { json: {} } },
]
for (const { name, list } of stillThere)
  test(`a release that is forbidden is not done when ${name}`, async () => {
    await withRoutes({ ...forbidden, [`GET ${ips}`]: list }, async (cloud) => {
      assert.ok(await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted)))
    })
  })

test('a release of an assigned reservation is a conflict, to be tried again', async () => {
  const routes = { [`GET /ips/${id}`]: { json: metalReservation() }, [`DELETE /ips/${id}`]: errors(422, 'is assigned') }
  await withRoutes(routes, async (cloud) => {
    assert.is((await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted))).fault, 'conflict')
  })
})

test('a release without an id asks nothing of the provider', async () => {
  await withRoutes({}, async (cloud, seen) => {
    assert.is((await cloudErrorOf(cloud.release({ id: '', marks: {} }, neverAborted))).fault, 'invalid')
    assert.equal(seen, [])
  })
})

const metros = {
  'GET /locations/metros': { json: { metros: [dallas, { code: 'NY', name: null }, { name: 'nowhere' }] } },
}
const known = [
  { code: 'da', name: 'Dallas', kind: 'metro' },
  { code: 'ny', name: 'ny', kind: 'metro' },
]
const facilities = `GET /projects/${projectId}/facilities`

test('locations are metros, and facilities where the API still has them', async () => {
  const answer = { json: { facilities: [{ code: 'da11', name: 'Dallas 11', features: [] }] } }
  await withRoutes({ ...metros, [facilities]: answer }, async (cloud) => {
    assert.equal(await cloud.locations(neverAborted), [...known, { code: 'da11', name: 'Dallas 11', kind: 'facility' }])
  })
})

test('facilities may answer as late as metros', async () => {
  const answer = { json: { facilities: [{ code: 'da11', name: 'Dallas 11' }] }, afterMs: 3_500 }
  await withRoutes({ ...metros, [facilities]: answer }, async (cloud) => {
    assert.ok((await cloud.locations(neverAborted)).some(({ code }) => code === 'da11'))
  })
})

for (const reply of [
  errors(404, 'Not found'),
  errors(410, 'Gone'),
  errors(403, 'No'),
  { status: 502 },
  { json: {} },
  'cut',
] as Reply[])
  test(`the metros are there when facilities answer ${JSON.stringify(reply)}`, async () => {
    await withRoutes({ ...metros, [facilities]: reply }, async (cloud) => {
      assert.equal(await cloud.locations(neverAborted), known)
    })
  })

test('an answer without metros is an error, not an empty list', async () => {
  await withRoutes({ 'GET /locations/metros': { json: {} }, [facilities]: { json: {} } }, async (cloud) => {
    assert.is((await cloudErrorOf(cloud.locations(neverAborted))).fault, 'unavailable')
  })
})

test('a token that may not see the metros gets an error about the key', async () => {
  await withRoutes(
    { 'GET /locations/metros': errors(403, 'Access denied'), [facilities]: { json: {} } },
    async (cloud) => {
      assert.is((await cloudErrorOf(cloud.locations(neverAborted))).fault, 'auth')
    },
  )
})

test.run()
