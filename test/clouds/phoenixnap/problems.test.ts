// The routers' view of the blocks of a location.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { routingOf } from '../../../clouds/phoenixnap/parse-peer-group.ts'
import { neverAborted } from '../scripted-server.ts'
import { location, routes, secret, startCloud } from './stage.ts'

/** A cloud with a peer group and two blocks, and what a client that has read nothing yet says of them. */
async function open() {
  const cloud = await startCloud()
  const client = cloud.cloudWith(secret)
  await client.peering.enable({ asn: undefined, password: undefined }, neverAborted)
  const reserve = () => client.reserve({ location, marks: { usage: 'u', cluster: 'c' } }, neverAborted)
  const ids = [(await reserve()).id, (await reserve()).id] as const
  const problems = () => cloud.cloudWith(secret).problems?.(neverAborted)
  return { ...cloud, ids, problems }
}

test('blocks that the routers have, and a location without a peer group, have no problem, for one call', async () => {
  await using cloud = await open()
  cloud.control.calls.clear()
  assert.equal(await cloud.problems(), new Map())
  assert.equal([cloud.control.calls.count(routes.peerGroups), cloud.control.calls.count(routes.list)], [1, 0])
  cloud.control.peerGroups.remove(location)
  assert.equal(await cloud.problems(), new Map())
})

test('a block whose prefix the routers could not take has a problem, and one that they work on has none', async () => {
  await using cloud = await open()
  cloud.control.blocks.setPrefixStatus(cloud.ids[0], 'ERROR')
  cloud.control.blocks.setPrefixStatus(cloud.ids[1], 'BUSY')
  assert.equal(
    await cloud.problems(),
    new Map([[cloud.ids[0], 'the status of its prefix in the BGP peer group is ERROR']]),
  )
})

for (const status of ['ON_HOLD', 'ERROR', 'PENDING_DELETION', 'DELETING'] as const)
  test(`every block of a location whose peer group is ${status} has a problem`, async () => {
    await using cloud = await open()
    cloud.control.blocks.add({ location: 'ASH' })
    cloud.control.peerGroups.setStatus(location, status)
    const text = `the status of the BGP peer group of PHX is ${status}`
    assert.equal(await cloud.problems(), new Map(cloud.ids.map((id) => [id, text])))
  })

for (const status of ['PENDING', 'BUSY', 'READY'] as const)
  test(`a peer group that is ${status} is no problem`, async () => {
    await using cloud = await open()
    cloud.control.peerGroups.setStatus(location, status)
    assert.equal(await cloud.problems(), new Map())
  })

const odd: { name: string; group: object }[] = [
  { name: 'nothing', group: {} },
  { name: 'other values', group: { status: 7, ipPrefixes: [{ status: 'ERROR' }, 'x', null, { ipAllocationId: 'a' }] } },
  { name: 'no list', group: { status: null, ipPrefixes: 'ERROR' } },
]
for (const { name, group } of odd)
  test(`a peer group that says ${name} of its blocks tells of no problem`, () => {
    assert.equal(routingOf({ ...group }), { problem: undefined, failedBlocks: [] })
  })

test.run()
