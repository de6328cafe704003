// The peculiarities of phoenixNAP: tags that have to exist, blocks of two, and a token that ends.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tagsOf } from '../../../clouds/phoenixnap/tags.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { location, readOnlySecret, routes, secret, startCloud } from './stage.ts'

const marks = { usage: 'eip-admission', cluster: 'one', service: 'wc5Jyo1cRfBe7Qj+OQ/MKgKyKUyB7yeNX8OoHqbYjXk=' }

/** A cloud and its client, which has read nothing yet. */
async function open(given: Parameters<typeof startCloud>[0] = {}, more: Parameters<Cloud['cloudWith']>[1] = {}) {
  const cloud = await startCloud(given)
  const client = cloud.cloudWith(secret, more)
  const reserve = (changed = {}) => client.reserve({ location, marks: { ...marks, ...changed } }, neverAborted)
  const block = (id: string) => cloud.control.reservations.all().find((one) => one['id'] === id) ?? {}
  return { ...cloud, client, reserve, block }
}
type Cloud = Awaited<ReturnType<typeof startCloud>>

const count = ({ control }: Pick<Cloud, 'control'>, route: keyof typeof routes) => control.calls.count(routes[route])

test('the names of our tags are created once, and not by a process that finds them', async () => {
  await using cloud = await open()
  await cloud.reserve()
  await cloud.reserve()
  assert.equal([count(cloud, 'tags'), count(cloud, 'createTag'), count(cloud, 'token')], [1, 3, 1])
  await cloud.cloudWith(secret).reserve({ location, marks }, neverAborted)
  assert.equal([count(cloud, 'tags'), count(cloud, 'createTag')], [2, 3])
})

test('two processes that create the names at the same time both succeed', async () => {
  await using cloud = await open()
  const clients = [cloud.cloudWith(secret), cloud.cloudWith(secret), cloud.cloudWith(secret)]
  const all = await Promise.all(clients.map((client) => client.reserve({ location, marks }, neverAborted)))
  assert.is(new Set(all.map(({ address }) => address)).size, 3)
})

for (const unknownTagName of ['400', '404'] as const)
  test(`a name that a person deleted is created again, and the reserve is sent once more after ${unknownTagName}`, async () => {
    await using cloud = await open({ unknowns: { unknownTagName } })
    const { id } = await cloud.reserve()
    const { tags } = cloud.block(id) as { tags: { id: string }[] }
    await cloud.call('DELETE', `/tag-manager/v1/tags/${tags[0]?.id}`)
    cloud.control.calls.clear()
    const later = await cloud.reserve()
    assert.equal(later.marks, marks)
    assert.equal([count(cloud, 'reserve'), count(cloud, 'createTag')], [2, 1])
    await cloud.client.mark({ id, marks: {} }, marks, neverAborted)
    assert.equal((await cloud.client.reservation(id, neverAborted))?.marks, marks)
  })

test('a reserve that the provider refuses for another reason is sent once', async () => {
  await using cloud = await open({}, { location: 'XXX' })
  const { client } = cloud
  const error = await cloudErrorOf(client.reserve({ location: 'XXX', marks }, neverAborted))
  assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
  assert.match(error.message, 'location: must be one of PHX')
  assert.is(count(cloud, 'reserve'), 1)
})

for (const answer of [500, 'reset', 403] as const)
  test(`a name that cannot be created (${answer}) buys nothing, for certain`, async () => {
    await using cloud = await open()
    cloud.control.faults.add({ on: routes.createTag, answer })
    const error = await cloudErrorOf(cloud.reserve())
    assert.is(error.outcome, 'nothing')
    assert.is(count(cloud, 'reserve'), 0)
  })

test('tags of people stay, with and without a value, and ours are found among them', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  for (const name of ['team', 'cluster'])
    await cloud.call('POST', '/tag-manager/v1/tags', { name, isBillingTag: false })
  const theirs = [{ name: 'team' }, { name: 'cluster', value: 'k3s' }]
  await cloud.call('PUT', `/ips/v1/ip-blocks/${id}/tags`, [...theirs, ...tagsOf(marks)])
  await cloud.client.mark({ id, marks: {} }, { cluster: 'two', service: undefined }, neverAborted)
  const { tags } = cloud.block(id) as { tags: { name: string; value?: string }[] }
  const shown = tags.map(({ name, value }) => [name, value])
  assert.equal(shown.slice(0, 2), [
    ['team', undefined],
    ['cluster', 'k3s'],
  ])
  assert.equal((await cloud.client.reservation(id, neverAborted))?.marks, { usage: 'eip-admission', cluster: 'two' })
})

test('of a block of two the higher address counts, and a larger one is a network', async () => {
  await using cloud = await open()
  const { id, address, prefixLength } = await cloud.reserve()
  const { cidr } = cloud.block(id)
  assert.equal([cidr, address, prefixLength], ['203.0.113.0/31', '203.0.113.1', undefined])
  const large = String(cloud.control.blocks.add({ location: 'AUS', size: 29 })['id'])
  const found = await cloud.client.reservation(large, neverAborted)
  assert.equal([found?.address, found?.prefixLength, found?.location], ['203.0.113.8', 29, 'AUS'])
})

test('a block of the other family is no reservation, and one that an operator names is refused', async () => {
  await using cloud = await open()
  const id = String(cloud.control.blocks.add({ location, size: 64, version: 'V6' })['id'])
  assert.equal(await cloud.client.reservations({}, neverAborted), [])
  const error = await cloudErrorOf(cloud.client.reservation(id, neverAborted))
  assert.is(error.fault, 'invalid')
  assert.match(error.message, `${id} is no IPv4 block`)
  await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))
})

test('a block that the provider still creates is requested, and has its address when it is there', async () => {
  await using cloud = await open({ unknowns: { newBlock: 'creating' }, changeMs: 3_600_000 })
  const { id, state, address } = await cloud.reserve()
  assert.equal([state, address], ['requested', undefined])
  cloud.control.blocks.setStatus(id, 'unassigned')
  const found = await cloud.client.reservation(id, neverAborted)
  assert.equal([found?.state, found?.address], ['reserved', '203.0.113.1'])
})

const inUse = ['assigning', 'assigned', 'unassigning', 'error assigning', 'subnetted'] as const
for (const status of inUse)
  test(`a block that is ${status} is not deleted, and the refusal says what has it`, async () => {
    await using cloud = await open()
    const { id } = await cloud.reserve()
    cloud.control.blocks.setStatus(id, status)
    const error = await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))
    assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
    assert.match(error.message, '203.0.113.1 is assigned to')
    assert.is(count(cloud, 'release'), 0)
  })

test('a block that a server has is named with the server, and refused by the provider as well', async () => {
  await using cloud = await open()
  const { id } = await cloud.reserve()
  const server = String(cloud.control.devices.add({ hostname: 'a', networkType: 'PRIVATE_ONLY' })['id'])
  const link = `/bmc/v1/servers/${server}/network-configuration/ip-block-configurations/ip-blocks`
  await cloud.call('POST', link, { id })
  const error = await cloudErrorOf(cloud.client.release({ id, marks: {} }, neverAborted))
  assert.match(error.message, `is assigned to server ${server}`)
  assert.is((await cloud.call('DELETE', `/ips/v1/ip-blocks/${id}`)).status, 409)
})

test('a 403 for one block is no proof while the list has it, and the list without a right is none at all', async () => {
  await using cloud = await open()
  const reserved = await cloud.reserve()
  const { id } = reserved
  cloud.control.faults.add({ on: 'GET /ips/v1/ip-blocks/*', answer: 403 })
  assert.equal(await cloud.client.reservation(id, neverAborted), reserved)
  cloud.control.reservations.vanish(id)
  assert.is(await cloud.client.reservation(id, neverAborted), undefined)
  cloud.control.faults.add({ on: routes.list, answer: 403 })
  assert.is((await cloudErrorOf(cloud.client.reservation(id, neverAborted))).fault, 'auth')
})

test('after a deletion a list that lags says that the block is there, not that the client is wrong', async () => {
  await using cloud = await open()
  cloud.control.setDeletion({ reservationsMs: 60_000 })
  const { id } = await cloud.reserve()
  await cloud.client.release({ id, marks: {} }, neverAborted)
  cloud.control.faults.add({ on: 'GET /ips/v1/ip-blocks/*', answer: 403 })
  assert.is((await cloud.client.reservation(id, neverAborted))?.id, id)
  cloud.control.reservations.vanish(id)
  assert.is(await cloud.client.reservation(id, neverAborted), undefined)
})

test('2000 blocks come in one list', async () => {
  await using cloud = await open()
  for (let n = 0; n < 2000; n += 1) cloud.control.blocks.add({ location })
  assert.is((await cloud.client.reservations({}, neverAborted)).length, 2000)
  assert.is(count(cloud, 'list'), 1)
})

test('a token that ends is renewed before, and one that is revoked once', async () => {
  let nowMs = 0
  await using cloud = await open({ tokenSeconds: 300 }, { now: () => nowMs })
  const read = () => cloud.client.reservations({}, neverAborted)
  await read()
  nowMs = 239_000
  await read()
  assert.is(count(cloud, 'token'), 1)
  nowMs = 241_000
  await read()
  assert.is(count(cloud, 'token'), 2)
  cloud.control.access.endTokens()
  await cloud.reserve()
  assert.equal([count(cloud, 'token'), count(cloud, 'reserve')], [3, 1])
})

for (const otherScopes of ['refused', 'dropped'] as const)
  test(`a client that lacks a scope gets a token for those that it has (${otherScopes})`, async () => {
    await using cloud = await open({ unknowns: { otherScopes } })
    await cloud.reserve()
    cloud.control.calls.clear()
    const reader = cloud.cloudWith(readOnlySecret)
    assert.is((await reader.reservations({}, neverAborted)).length, 1)
    assert.is(count(cloud, 'token'), otherScopes === 'refused' ? 2 : 1)
    const error = await cloudErrorOf(reader.reserve({ location, marks: { usage: 'u' } }, neverAborted))
    assert.is(error.fault, 'auth')
    assert.match(error.message, 'has the scopes bmc bmc.read tags tags.read')
  })

test('a token that is refused for another reason is asked for without scopes as well, and its words are shown', async () => {
  await using cloud = await open()
  cloud.control.faults.add({ on: routes.token, answer: 400, message: 'client is disabled' })
  const error = await cloudErrorOf(cloud.client.reservations({}, neverAborted))
  assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
  assert.match(error.message, 'client is disabled')
  assert.is(count(cloud, 'token'), 2)
})

test('locations are those that sell addresses, and need no right', async () => {
  await using cloud = await open()
  const found = await cloud.client.locations(neverAborted)
  assert.equal(found[0], { code: 'PHX', name: 'Phoenix, USA', kind: 'location' })
  assert.not.ok(found.some(({ code }) => code === 'AUS'))
})

test('servers without a public or a private address are read, and one in error is not off', async () => {
  await using cloud = await open()
  const inside = String(cloud.control.devices.add({ hostname: 'a', networkType: 'PRIVATE_ONLY' })['id'])
  const outside = String(cloud.control.devices.add({ hostname: 'b', networkType: 'PUBLIC_ONLY' })['id'])
  const kinds = async (id: string) =>
    (await cloud.client.machine(id, neverAborted))?.addresses.map(({ isPublic }) => isPublic)
  assert.equal([await kinds(inside), await kinds(outside)], [[false], [true]])
  for (const status of ['error', 'deleting', 'reserved'] as const) {
    cloud.control.devices.setStatus(inside, status)
    assert.is((await cloud.client.machine(inside, neverAborted))?.state, 'changing')
  }
})

test.run()
