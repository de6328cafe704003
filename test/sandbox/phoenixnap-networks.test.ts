// The public networks of phoenixNAP, which our client does not use: its former cloud controller manager did.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Body, blocks, networks, open } from './phoenixnap-fixture.ts'

test('a block in a public network is on its way for two seconds, and an eleventh is refused', async () => {
  await using cloud = await open()
  const { id: network } = await cloud.call(`POST ${networks}`, { name: 'web', location: 'PHX' })
  const { id } = await cloud.order()
  assert.is((await cloud.call(`POST ${networks}/${network}/ip-blocks`, { id })).code, 202)
  const statusOf = async () => (await cloud.call(`GET ${blocks}/${id}`)).status
  assert.is(await statusOf(), 'assigning')
  cloud.time.ms += 2_000
  assert.is(await statusOf(), 'assigned')
  assert.is((await cloud.call(`DELETE ${blocks}/${id}`)).code, 409)
  for (let n = 1; n < 10; n += 1)
    await cloud.call(`POST ${networks}/${network}/ip-blocks`, { id: (await cloud.order()).id })
  assert.is((await cloud.call(`POST ${networks}/${network}/ip-blocks`, { id: (await cloud.order()).id })).code, 409)
  assert.is((await cloud.call(`DELETE ${networks}/${network}/ip-blocks/${id}`)).code, 202)
  cloud.time.ms += 2_000
  assert.is(await statusOf(), 'unassigned')
})

const badNetworks: { name: string; body: object; problem: string }[] = [
  { name: 'a name without a letter', body: { name: '1234' }, problem: 'name: must match' },
  { name: 'a name with another character', body: { name: 'a_b' }, problem: 'name: must match' },
  { name: 'a VLAN that is none', body: { vlanId: 4095 }, problem: 'vlanId: must be between 2 and 4094' },
]
for (const { name, body, problem } of badNetworks)
  test(`a public network with ${name} is refused with what is wrong`, async () => {
    await using cloud = await open()
    const answer = await cloud.call(`POST ${networks}`, { name: 'web', location: 'PHX', ...body })
    assert.is(answer.code, 400)
    assert.match((answer['validationErrors'] as string[]).join(), problem)
  })

test('a public network is as it was ordered, and a change keeps what it does not name', async () => {
  await using cloud = await open()
  const wanted = { name: 'web (1).', location: 'PHX', description: 'words', vlanId: 2000, raEnabled: true }
  const parts = ({ code, name, description, vlanId, raEnabled }: Body) => [code, name, description, vlanId, raEnabled]
  const made = await cloud.call(`POST ${networks}`, wanted)
  assert.equal(parts(made), [201, 'web (1).', 'words', 2000, true])
  const path = `${networks}/${made.id}`
  assert.equal(parts(await cloud.call(`PATCH ${path}`, { name: 'shop' })), [200, 'shop', 'words', 2000, true])
  assert.is((await cloud.call(`PATCH ${path}`, { raEnabled: false }))['raEnabled'], false)
})

test('a public network with a block that it cannot have is not created, and its other blocks stay free', async () => {
  await using cloud = await open()
  const free = await cloud.order()
  const taken = await cloud.order()
  const six = { cidrBlockSize: '/64', ipVersion: 'V6' }
  const create = (...of: Body[]) =>
    cloud.call(`POST ${networks}`, { name: 'web', location: 'PHX', ipBlocks: of.map(({ id }) => ({ id })) })
  const { id: network } = await create(taken)
  for (const others of [
    [taken],
    [await cloud.order({ location: 'ASH' })],
    [await cloud.order(six), await cloud.order(six)],
  ])
    assert.is((await create(free, ...others)).code, 409)
  assert.equal(
    Object.values(await cloud.call(`GET ${networks}`)).flatMap((one) => (one as Body).id ?? []),
    [network],
  )
  assert.is((await cloud.call(`GET ${blocks}/${free.id}`)).status, 'unassigned')
})

test('a public network without members is deleted, and frees its blocks after a while', async () => {
  await using cloud = await open()
  const { id } = await cloud.order()
  const { id: network } = await cloud.call(`POST ${networks}`, { name: 'web', location: 'PHX', ipBlocks: [{ id }] })
  cloud.time.ms += 2_000
  assert.is((await cloud.call(`DELETE ${networks}/${network}`)).code, 204)
  const statusOf = async () => (await cloud.call(`GET ${blocks}/${id}`)).status
  assert.is(await statusOf(), 'unassigning')
  cloud.time.ms += 2_000
  assert.is(await statusOf(), 'unassigned')
})

test('a server has addresses of its public network, which no other one has unless the caller insists', async () => {
  await using cloud = await open({ changeMs: 0 })
  const { id } = await cloud.order({ cidrBlockSize: '/29' })
  const { id: network } = await cloud.call(`POST ${networks}`, { name: 'web', location: 'PHX', ipBlocks: [{ id }] })
  const [a, b] = ['a', 'b'].map((hostname) => {
    const server = String(cloud.control.devices.add({ hostname })['id'])
    return `/bmc/v1/servers/${server}/network-configuration/public-network-configuration/public-networks`
  })
  const join = async (at = '', ips?: string[]) => (await cloud.call(`POST ${at}`, { id: network, ips })).code
  assert.equal([await join(a), await join(a, ['192.0.2.1'])], [400, 400])
  assert.equal([await join(a, ['203.0.113.2']), await join(a, ['203.0.113.3'])], [202, 409])
  assert.equal([await join(b, ['203.0.113.2']), await join(`${b}?force=true`, ['203.0.113.2'])], [409, 202])
  const changed = await cloud.call(`PATCH ${a}/${network}`, { ips: ['203.0.113.4 - 203.0.113.6'] })
  assert.equal([changed.code, changed['ips']], [200, ['203.0.113.4 - 203.0.113.6']])
  const link = `${networks}/${network}/ip-blocks/${id}`
  assert.equal(
    [(await cloud.call(`DELETE ${networks}/${network}`)).code, (await cloud.call(`DELETE ${link}`)).code],
    [409, 409],
  )
  assert.is((await cloud.call(`DELETE ${link}?force=true`)).code, 202)
  for (const at of [a, b]) assert.is((await cloud.call(`DELETE ${at}/${network}`)).code, 202)
  assert.is((await cloud.call(`DELETE ${a}/${network}`)).code, 403)
  assert.is((await cloud.call(`DELETE ${networks}/${network}`)).code, 204)
})

test.run()
