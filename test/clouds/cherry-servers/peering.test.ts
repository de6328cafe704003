import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { cherryServer, listed, lithuania, ownIp, peers, project, projectId, servers } from './fixtures.ts'
import { asked, list, refusal, type Routes, withRoutes } from './scripted-cherry.ts'

const { id } = listed
const projects = `/v1/projects/${projectId}`
const undecided = { ...project, bgp: { enabled: true, local_asn: 0 } }
const wanted = { asn: 65_000, password: undefined }

const peersOf = (routes: Routes) => withRoutes(routes, (cloud) => cloud.peering.peers(id, neverAborted))

test('BGP is enabled on the project by that word alone', async () => {
  await withRoutes({ [`PUT ${projects}`]: { status: 201, json: undecided } }, async (cloud, seen) => {
    await cloud.peering.enable(wanted, neverAborted)
    assert.equal(seen[0]?.body, { bgp: true })
  })
})

test('BGP is enabled on a machine by that word alone, so that its tags stay as they are', async () => {
  await withRoutes({ [`PUT /v1/servers/${id}`]: { status: 201, json: cherryServer() } }, async (cloud, seen) => {
    await cloud.peering.enableOn(id, neverAborted)
    assert.equal(asked(seen), [`PUT /v1/servers/${id}`])
    assert.equal(seen[0]?.body, { bgp: true })
  })
})

const asProject: { name: string; json: object; as: object | undefined }[] = [
  { name: 'BGP that is off', json: { ...project, bgp: { enabled: false, local_asn: 64667 } }, as: undefined },
  { name: 'BGP that is on', json: project, as: { asn: 64667, password: undefined } },
  { name: 'BGP without a number yet', json: undecided, as: { asn: undefined, password: undefined } },
]
for (const { name, json, as } of asProject)
  test(`${name} is read`, async () => {
    await withRoutes({ [`GET ${projects}`]: { json } }, async (cloud) => {
      assert.equal(await cloud.peering.project(neverAborted), as)
    })
  })

for (const reply of [{ status: 200 }, { json: [] }, { json: {} }, { json: { bgp: true } }, { text: '<p>' }] as Reply[])
  test(`BGP is not off because of ${JSON.stringify(reply)}`, async () => {
    await withRoutes({ [`GET ${projects}`]: reply }, async (cloud) => {
      assert.is((await cloudErrorOf(cloud.peering.project(neverAborted))).fault, 'unavailable')
    })
  })

test('the machines with BGP are those whose servers have it enabled', async () => {
  const items = [
    cherryServer(),
    cherryServer({ id: 2, bgp: { enabled: false } }),
    cherryServer({ id: 3, bgp: { enabled: false } }),
    cherryServer({ id: 4 }),
  ]
  await withRoutes({ [`GET ${servers}`]: list(...items) }, async (cloud, seen) => {
    assert.equal(await cloud.peering.machines(neverAborted), new Set([id, '4']))
    assert.is(seen.length, 1)
  })
})

test('BGP that the list leaves out is read of each server, and its machine has peers', async () => {
  const unsaid = [undefined, null, {}].map((bgp, n) => cherryServer({ id: n + 1, bgp }))
  const routes: Routes = {
    [`GET ${servers}`]: list(...unsaid, cherryServer({ id: 4 }), cherryServer({ id: 5, bgp: null })),
    'GET /v1/servers/1': { json: cherryServer({ id: 1 }) },
    'GET /v1/servers/2': { json: cherryServer({ id: 2, bgp: { enabled: false } }) },
    'GET /v1/servers/3': { json: cherryServer({ id: 3, bgp: null }) },
    'GET /v1/servers/5': refusal(404, 'Not there'),
  }
  await withRoutes(routes, async (cloud, seen) => {
    assert.equal(await cloud.peering.machines(neverAborted), new Set(['1', '4']))
    assert.is(seen.length, 5)
    assert.equal(await cloud.peering.peers('1', neverAborted), peers)
    assert.equal(await cloud.peering.peers('2', neverAborted), [])
    assert.is(seen.length, 7)
    assert.equal([...(await cloud.peering.sessions(neverAborted)).keys()], ['1', '4'])
  })
})

test('BGP that cannot be read is not off', async () => {
  const routes: Routes = {
    [`GET ${servers}`]: list(cherryServer({ bgp: null })),
    [`GET /v1/servers/${id}`]: { status: 500 },
  }
  await withRoutes(routes, async ({ peering }) => {
    for (const read of [() => peering.machines(neverAborted), () => peering.peers(id, neverAborted)])
      assert.is((await cloudErrorOf(read())).fault, 'unavailable')
  })
})

test('a server says with how many of its routers it has a session, or nothing is known', async () => {
  const bgp = (counts: object) => ({ enabled: true, updated: '2026-01-01T00:00:00Z', ...counts })
  const items = [
    cherryServer({ id: 1, bgp: bgp({ routers: 2, connected: 2 }) }),
    cherryServer({ id: 2, bgp: bgp({ routers: 2, connected: 0 }) }),
    cherryServer({ id: 3, bgp: bgp({ connected: true }) }),
    cherryServer({ id: 4, bgp: { enabled: false, routers: 2, connected: 0 } }),
  ]
  await withRoutes({ [`GET ${servers}`]: list(...items) }, async (cloud) => {
    const seenAt = '2026-01-01T00:00:00Z'
    assert.equal(
      [...(await cloud.peering.sessions(neverAborted))],
      [
        ['1', { up: 2, down: 0, seenAt }],
        ['2', { up: 0, down: 2, seenAt }],
        ['3', { up: 0, down: 0, seenAt }],
      ],
    )
  })
})

test('the peers of all machines are read in one call', async () => {
  const ids = Array.from({ length: 50 }, (_, n) => n + 1)
  await withRoutes({ [`GET ${servers}`]: list(...ids.map((id) => cherryServer({ id }))) }, async (cloud, seen) => {
    const found = await Promise.all(ids.map((id) => cloud.peering.peers(String(id), neverAborted)))
    assert.equal(
      found,
      Array.from(ids, () => peers),
    )
    assert.equal(await cloud.peering.peers('7', neverAborted), peers)
    assert.is(seen.length, 1)
  })
})

test('a read from before BGP was enabled on a machine does not give its peers', async () => {
  let enabled = false
  const routes: Routes = {
    [`GET ${servers}`]: () => list(cherryServer({ bgp: { enabled } })),
    [`PUT /v1/servers/${id}`]: () => ((enabled = true), { status: 201, json: cherryServer() }),
  }
  await withRoutes(routes, async (cloud) => {
    assert.equal(await cloud.peering.peers(id, neverAborted), [])
    await cloud.peering.enableOn(id, neverAborted)
    assert.equal(await cloud.peering.peers(id, neverAborted), peers)
  })
})

test('BGP that was enabled although the answer was lost is looked at again as well', async () => {
  let enabled = false
  const routes: Routes = {
    [`GET ${servers}`]: () => list(cherryServer({ bgp: { enabled } })),
    [`PUT /v1/servers/${id}`]: () => ((enabled = true), 'cut'),
  }
  await withRoutes(routes, async (cloud) => {
    assert.equal(await cloud.peering.peers(id, neverAborted), [])
    await cloudErrorOf(cloud.peering.enableOn(id, neverAborted))
    assert.equal(await cloud.peering.peers(id, neverAborted), peers)
  })
})

test('a machine that came after the last list is found', async () => {
  const routes: Routes = {
    [`GET ${servers}`]: (_request, nth) => list(...(nth === 1 ? [] : [cherryServer()])),
  }
  await withRoutes(routes, async (cloud) => {
    assert.equal(await cloud.machines(neverAborted), [])
    assert.equal(await cloud.peering.peers(id, neverAborted), peers)
  })
})

test('a machine has no peers while its project has no number', async () => {
  const routes = { [`GET ${servers}`]: list(cherryServer({ project: undecided })) }
  assert.equal(await peersOf({ ...routes, [`GET ${projects}`]: { json: undecided } }), [])
})

for (const said of [undecided, undefined, { id: 218450 }])
  test(`a project that has its number by now counts, whatever its servers say (${JSON.stringify(said)})`, async () => {
    const routes = { [`GET ${servers}`]: list(cherryServer({ project: said })), [`GET ${projects}`]: { json: project } }
    assert.equal(await peersOf(routes), peers)
  })

test('a machine has no peers in a region without routers', async () => {
  const region = { ...lithuania, bgp: { hosts: [], asn: 16125 } }
  assert.equal(await peersOf({ [`GET ${servers}`]: list(cherryServer({ region })) }), [])
})

const unknown: { name: string; changes: Record<string, unknown> }[] = [
  { name: 'the region', changes: { region: null } },
  { name: 'the routers', changes: { region: { ...lithuania, bgp: { asn: 16125 } } } },
  { name: 'the address of a router', changes: { region: { ...lithuania, bgp: { hosts: ['x'], asn: 16125 } } } },
  { name: 'the number of the routers', changes: { region: { ...lithuania, bgp: { hosts: ['192.0.2.1'], asn: 0 } } } },
  { name: 'an address of its own', changes: { ip_addresses: [ownIp('10.0.0.2', 'private-ip')] } },
]
for (const { name, changes } of unknown)
  test(`a machine without ${name} has not lost its peers`, async () => {
    const error = await cloudErrorOf(peersOf({ [`GET ${servers}`]: list(cherryServer(changes)) }))
    assert.is(error.fault, 'unavailable')
  })

const noPeers: { reply: Reply; fault: Fault; says: string }[] = [
  { reply: list(), fault: 'invalid', says: `no server ${id} in project ${projectId}; check that the machine exists` },
  { reply: { json: {} }, fault: 'unavailable', says: 'is not a list' },
  { reply: refusal(404, 'Not there'), fault: 'invalid', says: 'check the project id' },
  { reply: refusal(403, 'No'), fault: 'auth', says: 'check that the API key' },
  { reply: refusal(429, 'Slow down'), fault: 'rate-limit', says: 'Slow down' },
]
for (const { reply, fault, says } of noPeers)
  test(`a machine has not lost its peers because of ${JSON.stringify(reply)}`, async () => {
    const error = await cloudErrorOf(peersOf({ [`GET ${servers}`]: reply }))
    assert.is(error.fault, fault)
    assert.match(error.message, says)
  })

test.run()
