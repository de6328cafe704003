// The rules of Scaleway that its Go client does not try: the queue of a server, ids that come back, changes that run.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ScalewayOptions, startScaleway } from '../../sandbox/clouds/scaleway/server.ts'

const project = '11111111-1111-4111-8111-111111111111'

type Ip = { id: string; ip_address: string; status: string; server_id: string | null; created_at: string }
type Answer = Partial<Ip> & { type?: string; current_state?: string; total_count?: number; flexible_ips?: Ip[] }

async function open(options: Partial<ScalewayOptions> = {}) {
  const time = { ms: 0 }
  const tokens = [{ token: 'key', projects: [project] }]
  const cloud = await startScaleway({ tokens, changeMs: 5_000, now: () => time.ms, ...options })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${cloud.url}/flexible-ip/v1alpha1/zones/fr-par-1/fips${path}`, {
      method,
      headers: { 'x-auth-token': 'key', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { code: answer.status, headers: answer.headers, ...((text ? JSON.parse(text) : {}) as Answer) }
  }
  const order = async (more: object = {}) => {
    const { id = '', ip_address = '', status, created_at } = await call('POST', '', { project_id: project, ...more })
    return { id, ip_address, status, created_at }
  }
  const attach = (server: string, ...ids: string[]) => call('POST', '/attach', { fips_ids: ids, server_id: server })
  const statusOf = async (id: string) => (await call('GET', `/${id}`)).status
  const add = (hostname: string) => String(cloud.control.devices.add({ hostname })['id'])
  return { ...cloud, time, call, order, attach, statusOf, add, [Symbol.asyncDispose]: cloud.close }
}

test('a server attaches one address after another, and two servers do so at once', async () => {
  await using cloud = await open()
  const [one, two] = [cloud.add('one'), cloud.add('two')]
  const [first, second, third] = [await cloud.order(), await cloud.order(), await cloud.order()]
  await cloud.attach(one, first.id, second.id)
  await cloud.attach(two, third.id)
  const statuses = async () => Promise.all([first, second, third].map(({ id }) => cloud.statusOf(id)))
  assert.equal(await statuses(), ['updating', 'updating', 'updating'])
  cloud.time.ms += 5_000
  assert.equal(await statuses(), ['attached', 'updating', 'attached'])
  cloud.time.ms += 5_000
  assert.equal(await statuses(), ['attached', 'attached', 'attached'])
  assert.is(cloud.control.route(second.ip_address), one)
  cloud.control.devices.powerOff(one)
  assert.is(cloud.control.route(second.ip_address), undefined)
})

for (const { movingShows, shown } of [
  { movingShows: 'nothing', shown: null },
  { movingShows: 'previous', shown: 'previous' },
] as const)
  test(`while an address moves it shows ${movingShows}, and every other change is refused`, async () => {
    await using cloud = await open({ unknowns: { movingShows } })
    const [one, two] = [cloud.add('one'), cloud.add('two')]
    const { id } = await cloud.order({ server_id: one })
    cloud.time.ms += 5_000
    await cloud.attach(two, id)
    assert.is((await cloud.call('GET', `/${id}`)).server_id, shown && one)
    const others = [
      cloud.attach(one, id),
      cloud.call('POST', '/detach', { fips_ids: [id] }),
      cloud.call('DELETE', `/${id}`),
    ]
    for (const { code, type, current_state } of await Promise.all(others))
      assert.equal([code, type, current_state], [409, 'transient_state', 'updating'])
    cloud.time.ms += 5_000
    assert.is((await cloud.call('GET', `/${id}`)).server_id, two)
  })

test('a deleted address no longer exists with 403, and the next one has its id, its number and its time', async () => {
  await using cloud = await open()
  const former = await cloud.order()
  assert.is((await cloud.call('DELETE', `/${former.id}`)).code, 204)
  for (const method of ['GET', 'DELETE']) {
    const { code, type } = await cloud.call(method, `/${former.id}`)
    assert.equal([code, type], [403, 'permissions_denied'])
  }
  cloud.time.ms += 1_000
  assert.equal(await cloud.order(), former)
})

test('without recycling the number comes back under a new id', async () => {
  await using cloud = await open({ recycles: false })
  const former = await cloud.order()
  await cloud.call('DELETE', `/${former.id}`)
  const later = await cloud.order()
  assert.is(later.ip_address, former.ip_address)
  assert.is.not(later.id, former.id)
})

test('an attached address is deleted in one call, after it was detached', async () => {
  await using cloud = await open()
  const { id } = await cloud.order({ server_id: cloud.add('one') })
  cloud.time.ms += 5_000
  assert.is((await cloud.call('DELETE', `/${id}`)).code, 204)
  assert.is(await cloud.statusOf(id), 'detaching')
  cloud.time.ms += 5_000
  assert.is((await cloud.call('GET', `/${id}`)).code, 403)
})

test('the quota is of the organization: the addresses of its other projects count', async () => {
  const other = '22222222-2222-4222-8222-222222222222'
  await using cloud = await open({ quota: 1, tokens: [{ token: 'key', projects: [project, other] }] })
  await cloud.order({ project_id: other })
  assert.equal([(await cloud.call('POST', '', { project_id: project })).type], ['quotas_exceeded'])
})

test('a server that is removed leaves its addresses', async () => {
  await using cloud = await open()
  const server = cloud.add('one')
  const { id } = await cloud.order({ server_id: server })
  cloud.time.ms += 5_000
  cloud.control.devices.remove(server)
  assert.is(await cloud.statusOf(id), 'detaching')
  cloud.time.ms += 5_000
  assert.is(await cloud.statusOf(id), 'ready')
})

test('a list has the addresses with any of the tags, and their number on every page', async () => {
  await using cloud = await open()
  for (const tags of [['a'], ['b', 'c'], ['c'], []]) await cloud.order({ tags })
  const list = async (query: string) => {
    const { total_count, flexible_ips } = await cloud.call('GET', `?${query}`)
    return [total_count, flexible_ips?.length]
  }
  assert.equal(await list('tags=a&tags=c'), [3, 3])
  assert.equal(await list('tags=a&tags=c&page_size=2&page=2'), [3, 1])
  assert.equal(await list(`status=ready&project_id=${project}`), [4, 4])
  assert.is((await cloud.call('GET', '?project_id=22222222-2222-4222-8222-222222222222')).code, 403)
  assert.match((await cloud.call('GET', '')).headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

test.run()
