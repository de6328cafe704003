import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UnknownBehaviour } from '../../../sandbox/clouds/cherry-servers/unknown-behaviour.ts'
import { projectId } from './fixtures.ts'
import { key, startCherry, startStage, target } from './stage.ts'
import { assignmentContract, cloudContract, peeringContract, projectContract } from '../contract.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'

// The other answer to every question that nobody outside the vendor can answer.
const otherwise: Partial<UnknownBehaviour> = {
  listOrder: 'newest-first',
  filteredTotal: 'all',
  limitedTotal: 'page',
  goneAddress: '403',
  foreignProject: '404',
  regionsNeedToken: 'no',
  unknownTarget: '400',
  deleteTargeted: 'detaches',
  samePtrRecord: '200',
  localAsn: 'cleared',
  bgpActive: 'flag',
  listShowsBgp: 'no',
  stateWhenOff: 'inactive',
}
for (const { name, unknowns } of [
  { name: 'Cherry Servers', unknowns: {} },
  { name: 'Cherry Servers, if it is otherwise', unknowns: otherwise },
]) {
  const start = () => startStage(unknowns)
  cloudContract(name, start)
  peeringContract(name, start)
  assignmentContract(name, start)
  projectContract(name, start)
}

const location = 'LT-Siauliai'
const marks = { usage: 'test-auto', cluster: 'one' }

for (const deleteTargeted of ['refused', 'detaches'] as const)
  test(`an address that a machine holds stays until the machine lets go (${deleteTargeted})`, async () => {
    await using cherry = await startCherry({ deleteTargeted })
    const cloud = cherry.cloudWith(key)
    const { id, address } = await cloud.reserve({ location, marks }, neverAborted)
    const server = String(cherry.control.devices.add({ hostname: 'node-1' })['id'])
    await target(cherry.simulator.url, address, server)
    assert.is((await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted))).fault, 'conflict')
    assert.is(cherry.control.calls.count('DELETE /ips/{id}'), 0)
    await target(cherry.simulator.url, address, '0')
    await cloud.release({ id, marks: {} }, neverAborted)
    assert.is(await cloud.reservation(id, neverAborted), undefined)
  })

test('the addresses of a server are never released, whoever asks', async () => {
  await using cherry = await startCherry()
  const { ip_addresses } = cherry.control.devices.add({ hostname: 'node-1' }) as { ip_addresses: { id: string }[] }
  const cloud = cherry.cloudWith(key)
  for (const { id } of ip_addresses) {
    const error = await cloudErrorOf(cloud.release({ id, marks: {} }, neverAborted))
    assert.match(error.message, /is an address of type (primary|private)-ip, not a floating IP/)
  }
  assert.equal(await cloud.reservations({}, neverAborted), [])
})

test('an address is reserved in a region that people know by its old name', async () => {
  await using cherry = await startCherry()
  const reserved = await cherry.cloudWith(key).reserve({ location: 'EU-Nord-1', marks }, neverAborted)
  assert.is(reserved.location, location)
  assert.is(cherry.control.reservations.all().length, 1)
})

test('a machine has no peers until its project has a number', async () => {
  const time = { ms: Date.now() }
  await using cherry = await startCherry({}, () => time.ms)
  cherry.control.setLocalAsn({ afterMs: 1_000 })
  const { peering } = cherry.cloudWith(key)
  const id = String(cherry.control.devices.add({ hostname: 'node-1' })['id'])
  await peering.enable({ asn: undefined, password: undefined }, neverAborted)
  await peering.enableOn(id, neverAborted)
  assert.equal(await peering.project(neverAborted), { asn: undefined, password: undefined })
  assert.equal(await peering.peers(id, neverAborted), [])
  time.ms += 1_000
  assert.ok((await peering.project(neverAborted))?.asn)
  const asns = (await peering.peers(id, neverAborted)).map(({ localAsn }) => localAsn)
  assert.equal(asns, [64_667, 64_667])
})

test('BGP that another tool has turned off is turned on again, and the tags of the server stay', async () => {
  await using cherry = await startCherry()
  const { peering } = cherry.cloudWith(key)
  const tags = { env: 'prod', owner: 'edge' }
  const id = String(cherry.control.devices.add({ hostname: 'node-1', tags })['id'])
  await peering.enable({ asn: undefined, password: undefined }, neverAborted)
  await peering.enableOn(id, neverAborted)
  cherry.control.bgp.turnOff(id)
  cherry.control.bgp.turnOffProject(projectId)
  assert.is(await peering.project(neverAborted), undefined)
  assert.equal(await peering.machines(neverAborted), new Set())
  await peering.enable({ asn: undefined, password: undefined }, neverAborted)
  await peering.enableOn(id, neverAborted)
  assert.equal([...(await peering.machines(neverAborted))], [id])
  assert.equal(cherry.control.devices.all()[0]?.['tags'], tags)
})

test('a list is whole where its length is that of the page', async () => {
  await using cherry = await startCherry({ limitedTotal: 'page' })
  const cloud = cherry.cloudWith(key)
  const add = (count: number) => Array.from({ length: count }, () => cherry.control.devices.add({ hostname: 'node' }))
  for (const more of [100, 150]) {
    add(more)
    assert.is((await cloud.machines(neverAborted)).length, cherry.control.devices.all().length)
  }
})

test.run()
