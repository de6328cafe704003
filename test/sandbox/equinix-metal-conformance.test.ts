import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Answer, type Fixture, type Json, listIn, otherProject, project, withMetal } from './metal-fixture.ts'
import { readOpenApi } from './openapi.ts'

const spec = readOpenApi(new URL('../../sandbox/clouds/equinix-metal/openapi.json', import.meta.url))

/** Fields that are null in real answers although the schema declares another type, and what null means there. */
const nullable: Record<string, string> = {
  details: 'no description was given',
  description: 'no description was given',
  ipxe_script_url: 'no iPXE',
  facility: 'a reservation made in a metro lies in no facility',
  metro: 'a global address lies in no metro',
  address: 'not granted yet',
  network: 'not granted yet',
  gateway: 'not granted yet',
  netmask: 'not granted yet',
  cidr: 'not granted yet',
  md5_password: 'no password',
  route_object: 'local BGP has none',
  previous: 'the first page',
  next: 'the last page',
}

/** Statuses that the specification does not list for these operations, and why they are likely. */
const undocumented: Record<string, string> = {
  'DELETE /ips/{id} 422': 'what deleting an assigned reservation does is not public',
  'GET /devices/{id}/bgp/sessions 404': 'an unknown id must answer something',
  'POST /devices/{id}/bgp/sessions 404': 'an unknown id must answer something',
  'GET /devices/{id}/ips 403': 'rights are those of the project',
  'POST /devices/{id}/ips 403': 'rights are those of the project',
  'GET /devices/{id}/metadata 403': 'rights are those of the project',
  'GET /projects/{id}/bgp/sessions 403': 'rights are those of the project',
  'GET /locations/metros/{id} 401': 'every route needs a token',
}

/** Bodies whose schema is not usable, and how to check them instead. */
const schemaIsWrong: Record<string, (body: Json) => string[]> = {
  // Addresses are strings in the schema, and there is no word of BGP; recorded answers have objects.
  'GET /devices/{id}/metadata': (body) => {
    const { addresses, ...network } = body['network'] as Json
    const rest = { ...body, network: { ...network, addresses: [] } }
    return [
      ...spec.problemsAs('Metadata', rest),
      ...(addresses as Json[]).flatMap((one) => spec.problemsAs('IPAssignment', withoutNulls(one))),
    ]
  },
  // The quantity is a string in the schema, a number in recorded answers.
  'POST /capacity/metros': (body) => spec.problemsAs('CapacityCheckPerMetroList', quantitiesAsText(body)),
  'POST /capacity': (body) => spec.problemsAs('CapacityCheckPerFacilityList', quantitiesAsText(body)),
  // No schema at all; a client that was in wide use read a session.
  'PUT /bgp/sessions/{id}': (body) => spec.problemsAs('BgpSession', body),
  // No schema either: it is whatever the customer stored.
  'GET /ips/{id}/customdata': () => [],
}

const quantitiesAsText = (body: Json) => ({
  servers: listIn(body, 'servers').map((server) => ({ ...server, quantity: String(server['quantity']) })),
})

/** Returns a body without the known nulls; any other null stays, and fails the check. */
function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name, field]) => field !== null || !(name in nullable))
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutNulls(field)])) as T
}

/** Finds where an answer differs from the specification of its operation and status. */
function problemsOf(route: string, { status, body, text }: Answer): string[] {
  const label = `${route} ${status}`
  const isDocumented = spec.isDocumented(route, status)
  if (!isDocumented && !(label in undocumented)) return ['the specification does not have this status']
  if (status >= 400 && !('error' in body || 'errors' in body)) return [`not an error: ${text}`]
  const judge = status < 300 ? schemaIsWrong[route] : undefined
  if (judge) return judge(withoutNulls(body))
  if (!isDocumented) return spec.problemsAs('Error', body)
  if (!spec.hasBody(route, status)) return text === '' ? [] : ['there should be no body']
  return spec.problems(route, status, withoutNulls(body))
}

type Asked = { route: string; id?: string; query?: string; sent?: unknown; token?: string }

/** Sends a request, and checks its answer. */
async function ask(
  { call }: Fixture,
  { route, id = project, query = '', sent, token }: Asked,
  status: number,
): Promise<Json> {
  const answer = await call(route.replace('{id}', id) + query, sent, token)
  assert.is(answer.status, status, `${route}: ${answer.text}`)
  assert.equal(problemsOf(route, answer), [], `${route} ${status}`)
  return answer.body
}

const device = { plan: 'c3.small.x86', operating_system: 'ubuntu_24_04', metro: 'da', hostname: 'worker-1' }
const order = { type: 'public_ipv4', quantity: 1, metro: 'da', tags: ['a'], details: 'text', customdata: { a: 1 } }

/** Makes a project with two devices, addresses of every type, and BGP with a session. */
async function furnish(fixture: Fixture) {
  const made = async (route: string, sent: unknown, id = project) =>
    String((await ask(fixture, { route, id, sent }, 201))['id'])
  const worker = await made('POST /projects/{id}/devices', device)
  await made('POST /projects/{id}/devices', { ...device, hostname: 'worker-2', facility: ['sv15'], metro: undefined })
  const reservation = await made('POST /projects/{id}/ips', order)
  await made('POST /projects/{id}/ips', { type: 'global_ipv4', quantity: 1 })
  await made('POST /projects/{id}/ips', { ...order, quantity: 8, metro: undefined, facility: 'da11' })
  fixture.metal.control.setGrants({ mode: 'review' })
  const pending = await made('POST /projects/{id}/ips', order)
  const { address } = (await fixture.call(`GET /ips/${reservation}`)).body
  const assignment = await made('POST /devices/{id}/ips', { address }, worker)
  await ask(fixture, { route: 'POST /projects/{id}/bgp-configs', sent: { deployment_type: 'local', asn: 65000 } }, 204)
  const session = await made('POST /devices/{id}/bgp/sessions', { address_family: 'ipv4', default_route: true }, worker)
  return { worker, reservation, pending, assignment, session }
}

test('every operation of the specification exists, and its successful answer conforms to the specification', () =>
  withMetal({}, async (fixture) => {
    const asked = new Set<string>()
    const succeed = async (of: Asked, status = 200) => {
      asked.add(of.route)
      return await ask(fixture, of, status)
    }
    await succeed({ route: 'GET /projects/{id}/bgp-config' })
    const { worker, reservation, pending, assignment, session } = await furnish(fixture)
    for (const route of ['devices', 'ips', 'bgp-configs'].map((kind) => `POST /projects/{id}/${kind}`)) asked.add(route)
    for (const route of ['POST /devices/{id}/ips', 'POST /devices/{id}/bgp/sessions']) asked.add(route)

    for (const query of [
      '',
      '?include=assignments,project',
      '?exclude=metro',
      '?types=private_ipv4,public_ipv6',
      '?per_page=1&page=2',
    ])
      await succeed({ route: 'GET /projects/{id}/ips', query })
    for (const id of [reservation, pending, assignment]) {
      await succeed({ route: 'GET /ips/{id}', id })
      await succeed({ route: 'PATCH /ips/{id}', id, sent: { tags: ['b'] } })
      await succeed({ route: 'GET /ips/{id}/customdata', id })
    }
    await succeed({ route: 'GET /ips/{id}/available', id: reservation, query: '?cidr=32' })
    for (const query of ['', '?include=parent_block,project', '?per_page=1'])
      await succeed({ route: 'GET /projects/{id}/devices', query })
    for (const query of [
      '',
      '?include=ip_addresses.parent_block,facility,project',
      '?exclude=plan,metro,facility,ip_addresses',
    ])
      await succeed({ route: 'GET /devices/{id}', id: worker, query })
    await succeed({ route: 'PUT /devices/{id}', id: worker, sent: { tags: ['b'] } })
    for (const part of ['ips', 'metadata', 'bgp/sessions', 'bgp/neighbors'])
      await succeed({ route: `GET /devices/{id}/${part}`, id: worker })
    for (const query of ['', '?include=sessions,project'])
      await succeed({ route: 'GET /projects/{id}/bgp-config', query })
    for (const part of ['bgp/sessions', 'global-bgp-ranges', 'facilities'])
      await succeed({ route: `GET /projects/{id}/${part}` })
    await succeed({ route: 'GET /bgp/sessions/{id}', id: session, query: '?include=device' })
    await succeed({ route: 'PUT /bgp/sessions/{id}', id: session, sent: false })
    await succeed({ route: 'DELETE /bgp/sessions/{id}', id: session }, 204)

    for (const path of ['locations/metros', 'facilities', 'capacity', 'capacity/metros'])
      await succeed({ route: `GET /${path}` })
    await succeed({ route: 'GET /locations/metros/{id}', id: '2991b022-b8c4-497e-8db7-5a407c3a209b' })
    const servers = [{ metro: 'da', facility: 'da11', plan: 'c3.small.x86', quantity: 1 }]
    await succeed({ route: 'POST /capacity', sent: { servers } })
    await succeed({ route: 'POST /capacity/metros', sent: { servers } })
    await succeed({ route: 'DELETE /ips/{id}', id: assignment }, 204)
    await succeed({ route: 'DELETE /ips/{id}', id: reservation }, 204)
    await succeed({ route: 'DELETE /devices/{id}', id: worker }, 204)
    assert.equal(
      spec.routes.filter((route) => !asked.has(route)),
      [],
    )
  }))

for (const route of spec.routes)
  test(`${route} without a token gets 401 as specified`, () =>
    withMetal({}, async (fixture) => void (await ask(fixture, { route, token: 'none' }, 401))))

/** The paths of objects that belong to a project; metros and others do not. */
const owned = spec.routes.filter((route) => route.includes('{id}') && !route.includes('/locations/'))

for (const route of owned)
  test(`${route} gets 404 for an unknown id and 403 for another customer's, as specified`, () =>
    withMetal({}, async (fixture) => {
      await ask(fixture, { route, id: 'ffffffff-ffff-4fff-8fff-ffffffffffff' }, 404)
      const ids = await belongings(fixture)
      const [, kind = ''] = /^\w+ \/(projects|devices|ips|bgp\/sessions)\//.exec(route) ?? []
      await ask(fixture, { route, id: ids[kind] ?? '' }, 403)
    }))

/** Ids in a project that the token `full` may not use. */
async function belongings({ metal, call }: Fixture): Promise<Record<string, string>> {
  const made = async (route: string, sent: unknown) => String((await call(route, sent, 'both')).body['id'])
  const theirs = String(metal.control.devices.add({ hostname: 'theirs', project: otherProject })['id'])
  await call(`POST /projects/${otherProject}/bgp-configs`, { deployment_type: 'local', asn: 65000 }, 'both')
  return {
    projects: otherProject,
    devices: theirs,
    ips: await made(`POST /projects/${otherProject}/ips`, order),
    'bgp/sessions': await made(`POST /devices/${theirs}/bgp/sessions`, { address_family: 'ipv4' }),
  }
}

const invalid: Asked[] = [
  { route: 'POST /projects/{id}/ips', sent: {} },
  { route: 'POST /projects/{id}/devices', sent: {} },
  { route: 'POST /projects/{id}/bgp-configs', sent: {} },
  { route: 'POST /capacity', sent: {} },
  { route: 'POST /capacity/metros', sent: {} },
]

for (const asked of invalid)
  test(`${asked.route} without required fields gets 422 as specified`, () =>
    withMetal({}, async (fixture) => void (await ask(fixture, asked, 422))))

test('conflicts get 422, as specified or where the specification lists no status', () =>
  withMetal({}, async (fixture) => {
    const { worker, reservation, session } = await furnish(fixture)
    const { address } = (await fixture.call(`GET /ips/${reservation}`)).body
    await ask(fixture, { route: 'POST /devices/{id}/ips', id: worker, sent: { address } }, 422)
    await ask(fixture, { route: 'DELETE /ips/{id}', id: reservation }, 422)
    await ask(fixture, { route: 'POST /devices/{id}/bgp/sessions', id: worker, sent: { address_family: 'ipv4' } }, 422)
    await ask(fixture, { route: 'PUT /bgp/sessions/{id}', id: session, sent: {} }, 422)
    await fixture.call(`PUT /devices/${worker}`, { locked: true })
    await ask(fixture, { route: 'DELETE /devices/{id}', id: worker }, 422)
  }))

const nonconforming: { name: string; body: Json; says: RegExp }[] = [
  {
    name: 'a null that the vendor does not return',
    body: { type: 'public_ipv4', tags: null },
    says: /tags must be array/,
  },
  { name: 'an extra field in a closed schema', body: { type: 'public_ipv4', surprise: 1 }, says: /additional/ },
  { name: 'an unknown type', body: { type: 'public_ipv5' }, says: /allowed values/ },
]

for (const { name, body, says } of nonconforming)
  test(`the check finds ${name}`, () => {
    const answer = { status: 200, text: '', headers: new Headers(), body: { ip_addresses: [body] }, list: [] }
    assert.match(problemsOf('GET /projects/{id}/ips', answer).join(), says)
  })

test.run()
