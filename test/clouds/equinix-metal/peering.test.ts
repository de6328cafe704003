import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { Secret } from '../../../lib/secret.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { machine, metalNeighbor, peers, projectId } from './fixtures.ts'
import { asked, errors, type Routes, withRoutes } from './scripted-metal.ts'

const config = `/projects/${projectId}/bgp-config`
const ofProject = `/projects/${projectId}/bgp/sessions`
const ofMachine = `/devices/${machine.id}/bgp/sessions`
const neighbors = `/devices/${machine.id}/bgp/neighbors`

const password = new Secret('Secret1234')
const enabled = { json: { id: '6d9a0f6b', status: 'enabled', asn: 65_000, md5: null } }
const session = (device: string, family = 'ipv4') => ({
  id: `${family} of ${device}`,
  address_family: family,
  device: { href: `/metal/v1/devices/${device}` },
})
const sessions = (...items: object[]): Reply => ({ json: { bgp_sessions: items } })

const enable = (routes: Routes, wanted = { asn: 65_000, password: undefined as Secret | undefined }) =>
  withRoutes(routes, async (cloud, seen) => {
    await cloud.peering.enable(wanted, neverAborted)
    return seen
  })
const enableOn = (routes: Routes) =>
  withRoutes(routes, async (cloud, seen) => {
    await cloud.peering.enableOn(machine.id, neverAborted)
    return seen
  })

test('local BGP is enabled in one call, with the documented fields and no other', async () => {
  const seen = await enable({ [`POST ${config}s`]: { status: 204 } }, { asn: 65_000, password })
  assert.equal(asked(seen), [`POST ${config}s`])
  assert.equal(seen[0]?.body, {
    deployment_type: 'local',
    asn: 65_000,
    use_case: 'kubernetes-load-balancer',
    md5: 'Secret1234',
  })
})

for (const none of [undefined, new Secret('')])
  test(`without a password (${none ? 'empty' : 'absent'}) none is sent`, async () => {
    const seen = await enable({ [`POST ${config}s`]: { status: 201, json: {} } }, { asn: 65_000, password: none })
    assert.equal(Object.keys(seen[0]?.body ?? {}), ['deployment_type', 'asn', 'use_case'])
  })

test('BGP that somebody else was quicker to enable is enabled', async () => {
  const seen = await enable({ [`POST ${config}s`]: errors(422, 'is already configured'), [`GET ${config}`]: enabled })
  assert.equal(asked(seen), [`POST ${config}s`, `GET ${config}`])
})

const notEnabled: { name: string; post: Reply; get: Reply; fault: Fault; says: string }[] = [
  {
    name: 'it is off',
    post: errors(422, 'Asn is bad'),
    get: { json: {} },
    fault: 'invalid',
    says: 'Asn is bad; check',
  },
  {
    name: 'it needs approval',
    post: errors(422, 'Requires approval'),
    get: { json: {} },
    fault: 'invalid',
    says: 'Requires approval; check',
  },
  {
    name: 'it is disabled',
    post: errors(422, 'Not again'),
    get: { json: { ...enabled.json, status: 'disabled' } },
    fault: 'invalid',
    says: 'Not again',
  },
  {
    name: 'it cannot be seen',
    post: errors(422, 'Asn is bad'),
    get: errors(403, 'Denied'),
    fault: 'auth',
    says: 'Denied',
  },
  { name: 'it is forbidden', post: errors(403, 'Denied'), get: enabled, fault: 'auth', says: 'Denied' },
]
for (const { name, post, get, fault, says } of notEnabled)
  test(`BGP that was refused is not enabled when ${name}`, async () => {
    const error = await cloudErrorOf(enable({ [`POST ${config}s`]: post, [`GET ${config}`]: get }))
    assert.equal([error.fault, error.outcome], [fault, 'nothing'])
    assert.match(error.message, says)
  })

test('a refusal that repeats the password does not get it into the error', async () => {
  const routes = { [`POST ${config}s`]: errors(422, 'Md5 Secret1234 is invalid'), [`GET ${config}`]: { json: {} } }
  const error = await cloudErrorOf(enable(routes, { asn: 65_000, password }))
  assert.match(error.message, 'Md5 [redacted] is invalid')
  assert.not.match(inspect(error, { depth: null, showHidden: true }), 'Secret1234')
})

test('a refusal that repeats a password in JSON does not get it into the error', async () => {
  const quoted = new Secret('se"cr\\et')
  const body = JSON.stringify({ md5: quoted.reveal() })
  for (const text of [body, JSON.stringify(body), `Md5 ${quoted.reveal()}`]) {
    const routes = { [`POST ${config}s`]: errors(422, `bad request: ${text}`), [`GET ${config}`]: { json: {} } }
    const error = await cloudErrorOf(enable(routes, { asn: 65_000, password: quoted }))
    assert.match(error.message, '[redacted]')
    assert.not.match(error.message, /se.*cr.*et/)
  }
})

const unreadable: Reply[] = [{ status: 200 }, { json: [] }, { json: { id: 'x', status: 'enabled' } }, { text: '<p>' }]
for (const reply of unreadable)
  test(`BGP is not off because of ${JSON.stringify(reply)}`, async () => {
    await withRoutes({ [`GET ${config}`]: reply }, async (cloud) => {
      assert.is((await cloudErrorOf(cloud.peering.project(neverAborted))).fault, 'unavailable')
    })
  })

test('the machines with BGP are read in one call without pages, for IPv4 alone', async () => {
  const list = sessions(session('a'), session('a', 'ipv6'), session('b'), session('c', 'ipv6'), { id: 'no device' })
  await withRoutes({ [`GET ${ofProject}`]: list }, async (cloud, seen) => {
    assert.equal(await cloud.peering.machines(neverAborted), new Set(['a', 'b']))
    assert.equal([seen.length, seen[0]?.query.toString()], [1, ''])
  })
})

test('what the routers saw of a session is counted by router, and what they have not looked at is not', async () => {
  const seen = (device: string, status: string) => ({ ...session(device), status, updated_at: '2026-01-01T00:00:00Z' })
  const list = sessions(seen('a', 'up,up'), seen('b', 'up,down'), seen('c', 'unknown'), seen('d', 'down, down'))
  await withRoutes({ [`GET ${ofProject}`]: list }, async (cloud) => {
    const seenAt = '2026-01-01T00:00:00Z'
    assert.equal(
      [...(await cloud.peering.sessions(neverAborted))],
      [
        ['a', { up: 2, down: 0, seenAt }],
        ['b', { up: 1, down: 1, seenAt }],
        ['c', { up: 0, down: 0, seenAt }],
        ['d', { up: 0, down: 2, seenAt }],
      ],
    )
  })
})

test('sessions that come in pages are all read', async () => {
  const page: Routes[string] = ({ query }) => {
    const current = Number(query.get('page') ?? 1)
    const meta = { current_page: current, last_page: 3, total: 3 }
    return { json: { bgp_sessions: [session(`machine-${current}`)], meta } }
  }
  await withRoutes({ [`GET ${ofProject}`]: page }, async (cloud) => {
    assert.equal([...(await cloud.peering.machines(neverAborted))], ['machine-1', 'machine-2', 'machine-3'])
  })
})

test('an answer without sessions is an error, not a project without them', async () => {
  await withRoutes({ [`GET ${ofProject}`]: { json: {} } }, async (cloud) => {
    const error = await cloudErrorOf(cloud.peering.machines(neverAborted))
    assert.match(error.message, 'whole list of sessions: page 1 has no bgp_sessions')
  })
})

test('BGP is enabled on a machine in one call', async () => {
  const seen = await enableOn({ [`POST ${ofMachine}`]: { status: 201, json: session(machine.id) } })
  assert.equal(asked(seen), [`POST ${ofMachine}`])
  assert.equal(seen[0]?.body, { address_family: 'ipv4' })
})

for (const text of ['Address family already has session with ipv4', 'something new'])
  test(`BGP that is on for a machine already is enabled, whatever the refusal says: ${text}`, async () => {
    const routes = { [`POST ${ofMachine}`]: errors(422, text), [`GET ${ofMachine}`]: sessions(session(machine.id)) }
    assert.equal(asked(await enableOn(routes)), [`POST ${ofMachine}`, `GET ${ofMachine}`])
  })

const notOn: { name: string; post: Reply; get: Reply; fault: Fault; says: string }[] = [
  {
    name: 'the project has no BGP',
    post: errors(422, 'BGP is not enabled'),
    get: sessions(),
    fault: 'invalid',
    says: `BGP is not enabled; check that the machine exists, and that BGP is enabled and approved on project ${projectId}`,
  },
  {
    name: 'it is on for IPv6 alone',
    post: errors(422, 'Address family already has session with ipv6'),
    get: sessions(session(machine.id, 'ipv6')),
    fault: 'invalid',
    says: 'ipv6',
  },
  {
    name: 'the machine no longer exists',
    post: errors(404, 'Not found'),
    get: errors(404, 'Not found'),
    fault: 'invalid',
    says: 'Not found; check that the machine exists',
  },
  {
    name: 'its sessions cannot be read',
    post: errors(422, 'No'),
    get: { json: {} },
    fault: 'unavailable',
    says: 'no bgp_sessions',
  },
  { name: 'it is forbidden', post: errors(403, 'Denied'), get: sessions(session('a')), fault: 'auth', says: 'Denied' },
]
for (const { name, post, get, fault, says } of notOn)
  test(`BGP that was refused to a machine is not on when ${name}`, async () => {
    const error = await cloudErrorOf(enableOn({ [`POST ${ofMachine}`]: post, [`GET ${ofMachine}`]: get }))
    assert.equal([error.fault, error.outcome], [fault, 'nothing'])
    assert.match(error.message, says)
  })

test('the peers of a machine are read in one call', async () => {
  const list = { json: { bgp_neighbors: [metalNeighbor()] } }
  await withRoutes({ [`GET ${neighbors}`]: list }, async (cloud, seen) => {
    assert.equal(await cloud.peering.peers(machine.id, neverAborted), peers)
    assert.is(seen.length, 1)
  })
})

const noPeers: { reply: Reply; fault: Fault }[] = [
  { reply: { json: {} }, fault: 'unavailable' },
  { reply: { status: 200 }, fault: 'unavailable' },
  { reply: { json: { bgp_neighbors: [metalNeighbor({ peer_ips: [null] })] } }, fault: 'unavailable' },
  { reply: { status: 404, text: '<html>' }, fault: 'unavailable' },
  { reply: errors(404, 'Not found'), fault: 'invalid' },
  { reply: errors(403, 'Denied'), fault: 'auth' },
]
for (const { reply, fault } of noPeers)
  test(`a machine has not lost its peers because of ${JSON.stringify(reply).slice(0, 60)}`, async () => {
    await withRoutes({ [`GET ${neighbors}`]: reply }, async (cloud) => {
      assert.is((await cloudErrorOf(cloud.peering.peers(machine.id, neverAborted))).fault, fault)
    })
  })

test('peers that cannot be read do not tell their password', async () => {
  const wrong = metalNeighbor({ md5_enabled: true, md5_password: 'Secret1234', peer_as: 0 })
  await withRoutes({ [`GET ${neighbors}`]: { json: { bgp_neighbors: [wrong] } } }, async (cloud) => {
    const error = await cloudErrorOf(cloud.peering.peers(machine.id, neverAborted))
    assert.not.match(inspect(error, { depth: null, showHidden: true }), 'Secret1234')
  })
})

test.run()
