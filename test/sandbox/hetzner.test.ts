// The rules of Hetzner Cloud that its Go client does not try: labels and selectors, busy objects, the bucket of calls.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ApiError } from '../../sandbox/clouds/api-error.ts'
import { parseSelector, readLabels } from '../../sandbox/clouds/hetzner/labels.ts'
import { type HetznerOptions, startHetzner } from '../../sandbox/clouds/hetzner/server.ts'

const labels: [labels: object, isAllowed: boolean][] = [
  [{ cluster: 'a' }, true],
  [{ 'example.com/cluster': 'a.b_c-d' }, true],
  [{ empty: '' }, true],
  [{ cluster: 'a='.padEnd(3, 'x') }, false],
  [{ cluster: '-a' }, false],
  [{ cluster: 'a/b' }, false],
  [{ cluster: 'x'.repeat(64) }, false],
  [{ 'hetzner.cloud/cluster': 'a' }, false],
  [{ 'Example.com/cluster': 'a' }, false],
  [{ 'a/b/c': 'a' }, false],
  [{ cluster: 1 }, false],
]
for (const [given, isAllowed] of labels)
  test(`labels ${JSON.stringify(given).slice(0, 50)} are ${isAllowed ? 'allowed' : 'refused'}`, () => {
    if (isAllowed) assert.equal(readLabels(given), given)
    else
      assert.throws(
        () => readLabels(given),
        (error: unknown) => error instanceof ApiError && error.status === 422,
      )
  })

const selectors: [selector: string, labels: Record<string, string>, matches: boolean][] = [
  ['', {}, true],
  ['a=1', { a: '1' }, true],
  ['a==1', { a: '2' }, false],
  ['a!=1', {}, true],
  ['a', { a: '' }, true],
  ['!a', { a: '1' }, false],
  ['a in (1,2)', { a: '2' }, true],
  ['a notin (1,2)', { a: '2' }, false],
  ['a notin (1,2)', {}, true],
  ['a=1,b in (x, y),!c', { a: '1', b: 'y' }, true],
  ['a=1,b in (x, y),!c', { a: '1', b: 'y', c: '' }, false],
]
for (const [selector, own, matches] of selectors)
  test(`selector "${selector}" ${matches ? 'matches' : 'leaves'} ${JSON.stringify(own)}`, () =>
    assert.is(parseSelector(selector)(own), matches))

async function open(options: Partial<HetznerOptions> = {}) {
  const cloud = await startHetzner({ tokens: [{ token: 'key', projects: [1] }], actionMs: 0, ...options })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${cloud.url}${path}`, {
      method,
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    type Answer = { error?: { code: string }; floating_ip?: { id: number; ip: string }; action?: { id: number } }
    return { status: answer.status, headers: answer.headers, ...((text ? JSON.parse(text) : {}) as Answer) }
  }
  const reserve = async () =>
    (await call('POST', '/floating_ips', { type: 'ipv4', home_location: 'fsn1' })).floating_ip ?? { id: 0, ip: '' }
  return { ...cloud, call, reserve, [Symbol.asyncDispose]: cloud.close }
}

for (const { lock, status, code } of [
  { lock: 'strict', status: 423, code: 'locked' },
  { lock: 'none', status: 201, code: undefined },
] as const)
  test(`a second action on a busy server: ${lock}`, async () => {
    await using cloud = await open({ actionMs: 60_000, unknowns: { lock } })
    const server = Number(cloud.control.devices.add({ hostname: 'one' })['id'])
    const [first, second] = [await cloud.reserve(), await cloud.reserve()]
    assert.is((await cloud.call('POST', `/floating_ips/${first.id}/actions/assign`, { server })).status, 201)
    const answer = await cloud.call('POST', `/floating_ips/${second.id}/actions/assign`, { server })
    assert.equal([answer.status, answer.error?.code], [status, code])
  })

test('without other settings an action takes one to three seconds, and locks its server and its address', async () => {
  const time = { ms: 0 }
  await using cloud = await startHetzner({ tokens: [{ token: 'key', projects: [1] }], now: () => time.ms }).then(
    ({ close, ...simulator }) => ({ ...simulator, [Symbol.asyncDispose]: close }),
  )
  const { control } = cloud
  const machine = String(control.devices.add({ hostname: 'one' })['id'])
  const call = (path: string, body: object) =>
    fetch(`${cloud.url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const name of ['one', 'two']) await call('/floating_ips', { type: 'ipv4', home_location: 'fsn1', name })
  const [one, two] = control.reservations.all()
  const assign = (id: unknown) => call(`/floating_ips/${String(id)}/actions/assign`, { server: Number(machine) })
  assert.equal([(await assign(one?.['id'])).status, (await assign(two?.['id'])).status], [201, 423])
  time.ms += 999
  assert.is(control.route(String(one?.['ip'])), undefined)
  time.ms += 2_001
  assert.is(control.route(String(one?.['ip'])), machine)
})

test('traffic goes to the server that has the address when the action has ended, and only while it runs', async () => {
  const time = { ms: 0 }
  await using cloud = await open({ actionMs: 2_000, now: () => time.ms })
  const server = String(cloud.control.devices.add({ hostname: 'one' })['id'])
  const { id, ip } = await cloud.reserve()
  await cloud.call('POST', `/floating_ips/${id}/actions/assign`, { server: Number(server) })
  assert.is(cloud.control.route(ip), undefined)
  time.ms += 2_000
  assert.is(cloud.control.route(ip), server)
  cloud.control.devices.powerOff(server)
  assert.is(cloud.control.route(ip), undefined)
})

test('a bucket of calls is refilled one by one, and its reset is when it is full', async () => {
  const time = { ms: 0 }
  await using cloud = await open({ callLimit: { calls: 2, refillMs: 1_000 }, now: () => time.ms })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await cloud.call('GET', '/locations')).status)
  time.ms += 1_000
  const { status, headers } = await cloud.call('GET', '/locations')
  assert.equal([...statuses, status], [200, 200, 429, 200])
  const told = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name))
  assert.equal(told, ['2', '0', '3'])
  assert.match(headers.get('x-correlation-id') ?? '', /^[0-9a-f]{32}$/)
})

test('the actions on floating IPs are listed for one of them, and for all; those on servers are others', async () => {
  await using cloud = await open()
  const server = Number(cloud.control.devices.add({ hostname: 'one' })['id'])
  const [one, two] = [await cloud.reserve(), await cloud.reserve()]
  for (const { id } of [one, two]) await cloud.call('POST', `/floating_ips/${id}/actions/assign`, { server })
  const { action: power } = await cloud.call('POST', `/servers/${server}/actions/poweroff`)
  const listed = async (path: string) => {
    const { status, ...answer } = await cloud.call('GET', path)
    return { status, ids: (answer as { actions?: { id: number }[] }).actions?.map(({ id }) => id) ?? [] }
  }
  const { ids } = await listed('/floating_ips/actions')
  assert.equal([ids.length, ids.includes(power?.id ?? 0)], [2, false])
  assert.equal((await listed(`/floating_ips/${one.id}/actions`)).ids, ids.slice(0, 1))
  assert.is((await cloud.call('GET', `/floating_ips/actions/${ids[1]}`)).action?.id, ids[1])
  assert.is((await cloud.call('GET', `/floating_ips/actions/${power?.id}`)).status, 404)
})

test('a method that a path does not have is refused by 405, and no object is taken for deleted', async () => {
  await using cloud = await open()
  const answer = async (method: string, path: string) => {
    const { status, error } = await cloud.call(method, path)
    return [status, error?.code]
  }
  assert.equal(await answer('POST', '/floating_ips/1?a=b'), [405, 'method_not_allowed'])
  assert.equal(await answer('DELETE', '/floating_ips'), [405, 'method_not_allowed'])
  assert.equal(await answer('GET', '/floating_ips/1'), [404, 'not_found'])
  assert.equal(await answer('GET', '/load_balancers'), [404, 'not_found'])
})

test('the action of an assignment to a server that goes meanwhile ends in an error', async () => {
  const time = { ms: 0 }
  await using cloud = await open({ actionMs: 2_000, now: () => time.ms })
  const server = Number(cloud.control.devices.add({ hostname: 'one' })['id'])
  const { id } = await cloud.reserve()
  const { action } = await cloud.call('POST', `/floating_ips/${id}/actions/assign`, { server })
  cloud.control.devices.remove(String(server))
  time.ms += 2_000
  const ended = (await cloud.call('GET', `/actions/${action?.id}`)) as { action?: { status?: string } }
  assert.is(ended.action?.status, 'error')
})

test.run()
