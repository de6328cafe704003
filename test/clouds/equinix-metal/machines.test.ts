import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../../clouds/ports/cloud.ts'
import { cloudErrorOf, neverAborted, type Reply } from '../scripted-server.ts'
import { deviceSecrets, machine, metalDevice, projectId } from './fixtures.ts'
import { asked, errors, type Routes, withRoutes } from './scripted-metal.ts'

const { id } = machine
const devices = `/projects/${projectId}/devices`
const list = (...items: object[]): Reply => ({ json: { devices: items } })
const html: Reply = { status: 404, text: '<html>', headers: { 'content-type': 'text/html' } }

const find = (routes: Routes) => withRoutes(routes, (cloud) => cloud.machine(id, neverAborted))

test('a machine is read in one call, with the blocks of its addresses', async () => {
  await withRoutes({ [`GET /devices/${id}`]: { json: metalDevice() } }, async (cloud, seen) => {
    assert.equal(await cloud.machine(id, neverAborted), machine)
    assert.is(seen.length, 1)
    assert.is(seen[0]?.query.get('include'), 'ip_addresses.parent_block,parent_block')
  })
})

test('machines are listed a hundred at a time, with the blocks of their addresses', async () => {
  await withRoutes({ [`GET ${devices}`]: list(metalDevice()) }, async (cloud, seen) => {
    assert.equal(await cloud.machines(neverAborted), [machine])
    const query = seen[0]?.query
    assert.equal([query?.get('per_page'), query?.get('include')], ['100', 'ip_addresses.parent_block,parent_block'])
  })
})

test('three thousand machines are thirty pages', async () => {
  const page: Routes[string] = ({ query }) => {
    const current = Number(query.get('page') ?? 1)
    const items = Array.from({ length: 100 }, (_, n) => metalDevice({ id: `${current}-${n}` }))
    return { json: { devices: items, meta: { current_page: current, last_page: 30, total: 3000 } } }
  }
  await withRoutes({ [`GET ${devices}`]: page }, async (cloud, seen) => {
    const ids = new Set((await cloud.machines(neverAborted)).map((one) => one.id))
    assert.equal([ids.size, seen.length], [3000, 30])
  })
})

test('a machine without an id hides no other machine', async () => {
  const machines = await withRoutes({ [`GET ${devices}`]: list(metalDevice({ id: null }), metalDevice()) }, (cloud) =>
    cloud.machines(neverAborted),
  )
  assert.equal(machines, [machine])
})

test('a machine that no longer exists was looked for by a key that sees its project', async () => {
  const routes = { [`GET /devices/${id}`]: errors(404, 'Not found'), [`GET ${devices}`]: list() }
  await withRoutes(routes, async (cloud, seen) => {
    assert.is(await cloud.machine(id, neverAborted), undefined)
    assert.equal(asked(seen), [`GET /devices/${id}`, `GET ${devices}`])
    assert.is(seen[1]?.query.get('per_page'), '1')
  })
})

test('a machine that cannot be read no longer exists when the list has others, and not it', async () => {
  const routes = { [`GET /devices/${id}`]: errors(403, 'Denied'), [`GET ${devices}`]: list(metalDevice({ id: 'b' })) }
  assert.is(await find(routes), undefined)
})

test('a machine that cannot be read is what the list says of it', async () => {
  const listed = metalDevice({ state: 'failed' })
  const routes = { [`GET /devices/${id}`]: errors(403, 'Denied'), [`GET ${devices}`]: list(listed) }
  assert.equal(await find(routes), { ...machine, state: 'changing' })
})

const doubts: { name: string; device: Reply; list: Reply; fault: Fault; says: string }[] = [
  {
    name: 'a 404 of which the project says 404 too',
    device: errors(404, 'Not found'),
    list: errors(404, 'Not found'),
    fault: 'invalid',
    says: 'check the project id',
  },
  {
    name: 'a 404 to a key that may not see the project',
    device: errors(404, 'Not found'),
    list: errors(403, 'Access denied'),
    fault: 'auth',
    says: 'check that the API key',
  },
  {
    name: 'a 404 beside a list that is none',
    device: errors(404, 'Not found'),
    list: { json: {} },
    fault: 'unavailable',
    says: 'no devices',
  },
  { name: 'a 404 of a proxy', device: html, list: list(), fault: 'unavailable', says: 'answered 404 with text/html' },
  {
    name: 'a 403 of a proxy',
    device: { ...html, status: 403 },
    list: list(metalDevice({ id: 'b' })),
    fault: 'unavailable',
    says: 'answered 403 with text/html',
  },
  {
    name: 'a 403 beside an empty list',
    device: errors(403, 'Denied'),
    list: list(),
    fault: 'auth',
    says: 'does not prove that it no longer exists; check that the API key may read',
  },
  {
    name: 'a 403 beside a list with a machine that has no id',
    device: errors(403, 'Denied'),
    list: list(metalDevice({ id: 'b' }), metalDevice({ id: null })),
    fault: 'auth',
    says: `machine ${id} cannot be read`,
  },
  {
    name: 'a 403 beside a list that fails',
    device: errors(403, 'Denied'),
    list: errors(500, 'Oh snap'),
    fault: 'unavailable',
    says: 'Oh snap',
  },
  { name: 'a 401', device: errors(401, 'Invalid'), list: list(), fault: 'auth', says: 'Invalid' },
  { name: 'a 410', device: errors(410, 'Gone'), list: list(), fault: 'invalid', says: 'answered 410' },
  { name: 'a 503', device: { status: 503 }, list: list(), fault: 'unavailable', says: 'answered 503' },
  { name: 'a cut connection', device: 'cut', list: list(), fault: 'unavailable', says: 'broke off' },
  {
    name: 'an answer without a body',
    device: { status: 200 },
    list: list(),
    fault: 'unavailable',
    says: 'another object than',
  },
  {
    name: 'an answer without an id',
    device: { json: {} },
    list: list(),
    fault: 'unavailable',
    says: 'another object than',
  },
]
for (const { name, device, list, fault, says } of doubts)
  test(`a machine is not gone by ${name}`, async () => {
    const error = await cloudErrorOf(find({ [`GET /devices/${id}`]: device, [`GET ${devices}`]: list }))
    assert.equal([error.fault, error.outcome], [fault, 'nothing'])
    assert.match(error.message, says)
  })

test('the secrets of a machine are in no result and in no error', async () => {
  const answers: Reply[] = [
    { json: metalDevice() },
    { json: metalDevice({ id: null }) },
    { status: 403, json: metalDevice() },
    { status: 422, json: metalDevice() },
    { status: 404, json: metalDevice() },
  ]
  for (const device of answers) {
    const said = await find({ [`GET /devices/${id}`]: device, [`GET ${devices}`]: list(metalDevice()) }).catch(
      (error: unknown) => error,
    )
    for (const secret of deviceSecrets) assert.not.match(inspect(said, { depth: null, showHidden: true }), secret)
  }
})

test('a machine without an id to look for asks nothing of the provider', async () => {
  await withRoutes({}, async (cloud, seen) => {
    for (const wrong of ['', '.', '..'])
      assert.is((await cloudErrorOf(cloud.machine(wrong, neverAborted))).fault, 'invalid')
    assert.equal(seen, [])
  })
})

test.run()
