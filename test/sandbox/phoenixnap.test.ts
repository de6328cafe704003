// The rules of phoenixNAP that our client does not try: what its other clients meet.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Body, blocks, groups, open, tags } from './phoenixnap-fixture.ts'

const gone = 'The request failed since this resource cannot be accessed by the provided credentials.'

test('a token is granted to a client with its secret, by a form, and to nobody else', async () => {
  await using cloud = await open()
  const { code, error, error_description } = await cloud.grant('wrong')
  assert.equal(
    [code, error, error_description],
    [401, 'unauthorized_client', 'Invalid client or Invalid client credentials'],
  )
  assert.is((await cloud.grant('secret', {}, 'other')).code, 401)
  assert.is((await cloud.grant('secret', { grant_type: 'password' })).code, 400)
})

test('a call needs a token that has not ended, and the list of locations needs none', async () => {
  await using cloud = await open({ tokenSeconds: 2 })
  assert.is((await cloud.callWith(undefined, `GET ${blocks}`)).code, 401)
  assert.is((await cloud.call(`GET ${blocks}`)).code, 200)
  cloud.time.ms += 2_000
  assert.is((await cloud.call(`GET ${blocks}`)).code, 401)
  assert.is((await cloud.callWith(undefined, 'GET /location-api/v1/locations')).code, 200)
})

test('a token has the scopes that were asked for and its client has', async () => {
  await using cloud = await open()
  const { access_token: narrow } = await cloud.grant('secret', { scope: 'tags.read' })
  assert.is((await cloud.callWith(narrow, `GET ${tags}`)).code, 200)
  assert.is((await cloud.callWith(narrow, `GET ${blocks}`)).code, 403)
  const all = 'bmc bmc.read tags tags.read'
  assert.is((await cloud.grant('reader', { scope: all })).error, 'invalid_scope')
  assert.is((await cloud.grant('reader', {})).scope, 'bmc.read tags.read')
  cloud.control.setUnknowns({ otherScopes: 'dropped' })
  const { access_token: reader, scope } = await cloud.grant('reader', { scope: all })
  assert.is(scope, 'bmc.read tags.read')
  assert.is((await cloud.callWith(reader, `POST ${tags}`, { name: 'a', isBillingTag: false })).code, 403)
})

test('an object of another account is as one that no longer exists', async () => {
  await using cloud = await open()
  const { id } = await cloud.order()
  const { access_token: theirs } = await cloud.grant('theirs', {}, 'other')
  for (const path of [`${blocks}/${id}`, `${blocks}/000000000000000000000000`]) {
    const { code, message } = await cloud.callWith(theirs, `GET ${path}`)
    assert.equal([code, message], [403, gone])
  }
  assert.is((await cloud.callWith(theirs, `PATCH ${blocks}/${id}`, {})).code, 404)
  cloud.control.setUnknowns({ gone: '404' })
  assert.is((await cloud.callWith(theirs, `GET ${blocks}/${id}`)).code, 404)
})

const refused: { name: string; body: object; problem: string }[] = [
  {
    name: 'a single address',
    body: { cidrBlockSize: '/32' },
    problem: 'cidrBlockSize: must be one of /31, /30, /29, /28',
  },
  { name: 'a retired location', body: { location: 'AUS' }, problem: 'location: must be one of PHX' },
  { name: 'a long description', body: { description: 'x'.repeat(251) }, problem: 'description: size must be' },
  {
    name: 'a dot in a value',
    body: { tags: [{ name: 'a', value: '1.2' }] },
    problem: 'tags: the value of a must match',
  },
]
for (const { name, body, problem } of refused)
  test(`an order of ${name} is refused with what is wrong`, async () => {
    await using cloud = await open()
    await cloud.call(`POST ${tags}`, { name: 'a', isBillingTag: false })
    const answer = await cloud.order(body)
    assert.is(answer.code, 400)
    assert.match((answer['validationErrors'] as string[]).join(), problem)
  })

test('a tag name is changed on every block that has it, to no name that exists, and says what has it', async () => {
  await using cloud = await open()
  const { id } = await cloud.call(`POST ${tags}`, { name: 'a', isBillingTag: false, description: 'words' })
  await cloud.call(`POST ${tags}`, { name: 'taken', isBillingTag: false })
  const { id: block } = await cloud.order({ tags: [{ name: 'a', value: '1' }] })
  assert.is((await cloud.call(`PATCH ${tags}/${id}`, { name: 'taken', isBillingTag: true })).code, 409)
  const { code, ...tag } = await cloud.call(`PATCH ${tags}/${id}`, { name: 'b', isBillingTag: true })
  assert.equal([code, tag['name'], tag['isBillingTag'], tag['description']], [200, 'b', true, 'words'])
  assert.equal(tag['resourceAssignments'], [{ resourceName: `/ips/ip-blocks/${block}`, value: '1' }])
  const { id: server } = cloud.control.devices.add({ hostname: 'a' })
  await cloud.call(`PUT /bmc/v1/servers/${String(server)}/tags`, [{ name: 'b' }])
  const [, used] = (await cloud.call(`GET ${tags}/${id}`))['resourceAssignments'] as object[]
  assert.equal(used, { resourceName: `/bmc/servers/${String(server)}` })
})

test('a change of a block without a description keeps the description', async () => {
  await using cloud = await open()
  const { id } = await cloud.order({ description: 'words' })
  assert.is((await cloud.call(`PATCH ${blocks}/${id}`, {}))['description'], 'words')
})

test('a block is aligned to its size', async () => {
  await using cloud = await open()
  const cidrs = []
  for (const cidrBlockSize of ['/31', '/29', '/31']) cidrs.push((await cloud.order({ cidrBlockSize }))['cidr'])
  assert.equal(cidrs, ['203.0.113.0/31', '203.0.113.8/29', '203.0.113.2/31'])
  assert.match(String((await cloud.order({ cidrBlockSize: '/64', ipVersion: 'V6' }))['cidr']), /::\/64$/)
})

test('a filter by two tags needs both, or one of them', async () => {
  await using cloud = await open()
  for (const name of ['a', 'b']) await cloud.call(`POST ${tags}`, { name, isBillingTag: false })
  await cloud.order({ tags: [{ name: 'a', value: '1' }] })
  await cloud.order({ tags: [{ name: 'a', value: '1' }, { name: 'b' }] })
  const found = async () => Object.keys(await cloud.call(`GET ${blocks}?tag=a.1&tag=b`)).length - 1
  assert.is(await found(), 1)
  cloud.control.setUnknowns({ tagFilter: 'or' })
  assert.is(await found(), 2)
  assert.is((await cloud.call(`POST ${tags}`, { name: 'a', isBillingTag: false })).code, 409)
})

test('a block that is taken from a server is deleted if the caller gives it up, and kept otherwise', async () => {
  await using cloud = await open()
  const server = String(cloud.control.devices.add({ hostname: 'a', networkType: 'PRIVATE_ONLY' })['id'])
  const links = `/bmc/v1/servers/${server}/network-configuration/ip-block-configurations/ip-blocks`
  for (const { deleteIpBlocks, after } of [
    { deleteIpBlocks: false, after: 200 },
    { deleteIpBlocks: true, after: 403 },
  ]) {
    const { id } = await cloud.order()
    await cloud.call(`POST ${links}`, { id })
    cloud.time.ms += 2_000
    assert.is((await cloud.call(`DELETE ${links}/${id}`, { deleteIpBlocks })).code, 202)
    assert.is((await cloud.call(`GET ${blocks}/${id}`)).status, 'unassigning')
    cloud.time.ms += 2_000
    assert.is((await cloud.call(`GET ${blocks}/${id}`)).code, after)
  }
})

test('a server has one IPv4 block, which the deprecated deletion takes with it and the other keeps', async () => {
  for (const { way, isKept } of [
    { way: 'DELETE', isKept: false },
    { way: 'deprovision', isKept: true },
  ]) {
    await using cloud = await open({ changeMs: 0 })
    const server = String(cloud.control.devices.add({ hostname: 'a', networkType: 'PRIVATE_ONLY' })['id'])
    const links = `/bmc/v1/servers/${server}/network-configuration/ip-block-configurations/ip-blocks`
    const { id } = await cloud.order()
    assert.is((await cloud.call(`POST ${links}`, { id })).code, 202)
    assert.is((await cloud.call(`POST ${links}`, { id: (await cloud.order()).id })).code, 409)
    const deprovision = `POST /bmc/v1/servers/${server}/actions/deprovision`
    if (way === 'DELETE') assert.is((await cloud.call(`DELETE /bmc/v1/servers/${server}`)).code, 200)
    else assert.is((await cloud.call(deprovision, { deleteIpBlocks: false })).code, 202)
    const { code, status } = await cloud.call(`GET ${blocks}/${id}`)
    assert.equal([code, status], isKept ? [200, 'unassigned'] : [403, undefined])
    assert.is((await cloud.call(`GET /bmc/v1/servers/${server}`)).code, 403)
  }
})

test('a location has one peer group, which is pending without a number, and has every block of the location', async () => {
  await using cloud = await open()
  const { id: block } = await cloud.order()
  const asked = { location: 'PHX', asn: 65_401, advertisedRoutes: 'NONE' }
  const made = await cloud.call(`POST ${groups}`, asked)
  const { code, status, id } = made
  assert.equal([code, status, made['activeAsnDetails']], [202, 'PENDING', undefined])
  assert.is((await cloud.call(`POST ${groups}`, asked)).code, 409)
  cloud.time.ms += 2_000
  const ready = await cloud.call(`GET ${groups}/${id}`)
  assert.equal([ready.status, (ready['activeAsnDetails'] as Body)['asn'], ready['eBgpMultiHop']], ['READY', 65_401, 7])
  assert.ok(ready['password'])
  assert.equal(
    (ready['ipPrefixes'] as Body[]).map((one) => one['ipAllocationId']),
    [block],
  )
  assert.is((await cloud.call(`POST ${groups}`, { ...asked, location: 'ASH', password: 'short' })).code, 400)
})

test('a number that the customer brings is verified while the peer group is pending', async () => {
  await using cloud = await open()
  const { id } = await cloud.call(`POST ${groups}`, { location: 'PHX', asn: 65_010, advertisedRoutes: 'NONE' })
  const target = async () =>
    ((await cloud.call(`GET ${groups}/${id}`))['targetAsnDetails'] as Body)['verificationStatus']
  assert.is(await target(), 'PENDING_VERIFICATION')
  cloud.time.ms += 2_000
  assert.is(await target(), 'VERIFIED')
})

test('a peer group that is being deleted takes no change', async () => {
  await using cloud = await open()
  const { id } = await cloud.call(`POST ${groups}`, { location: 'PHX', asn: 65_401, advertisedRoutes: 'NONE' })
  assert.is((await cloud.call(`DELETE ${groups}/${id}`)).status, 'PENDING_DELETION')
  for (const method of ['PATCH', 'DELETE']) assert.is((await cloud.call(`${method} ${groups}/${id}`, {})).code, 409)
  assert.is((await cloud.call(`GET ${groups}/${id}`)).status, 'PENDING_DELETION')
})

test.run()
