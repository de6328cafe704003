// The peer group of a location, which belongs to the account and to every server there.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePeerGroup } from '../../../clouds/phoenixnap/parse-peer-group.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { location, routes, secret, startCloud } from './stage.ts'

const wanted = { asn: undefined, password: undefined }

test('without the setting, no peer group is created, and the error says what to do', async () => {
  await using cloud = await startCloud()
  const { peering } = cloud.cloudWith(secret, { createsPeerGroup: false })
  const error = await cloudErrorOf(peering.enable(wanted, neverAborted))
  assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
  assert.match(error.message, `location ${location} has no BGP peer group`)
  assert.match(error.message, 'create one in the portal, or set PNAP_CREATE_PEER_GROUP=true')
  assert.equal(cloud.control.peerGroups.all(), [])
})

test('a peer group gets the number of the settings, or that of the vendor', async () => {
  for (const { asn, shown } of [
    { asn: undefined, shown: 65_401 },
    { asn: 65_010, shown: 65_010 },
  ]) {
    await using cloud = await startCloud()
    const { peering } = cloud.cloudWith(secret)
    await peering.enable({ ...wanted, asn }, neverAborted)
    assert.is((await peering.project(neverAborted))?.asn, shown)
    assert.is(cloud.control.peerGroups.all()[0]?.['advertisedRoutes'], 'NONE')
  }
})

test('while a peer group is pending, its machines have no peers, and a change keeps the previous number', async () => {
  await using cloud = await startCloud({ changeMs: 3_600_000 })
  const { peering } = cloud.cloudWith(secret)
  const id = String(cloud.control.devices.add({ hostname: 'a' })['id'])
  await peering.enable(wanted, neverAborted)
  assert.is((await peering.project(neverAborted))?.asn, undefined)
  assert.equal(await peering.peers(id, neverAborted), [])
  const group = String(cloud.control.peerGroups.all()[0]?.['id'])
  cloud.control.peerGroups.settle(group)
  await cloud.call('PATCH', `/networks/v1/bgp-peer-groups/${group}`, { asn: 65_020 })
  const later = cloud.cloudWith(secret).peering
  const peers = await later.peers(id, neverAborted)
  assert.equal(
    peers.map(({ localAsn, peerAsn, peerAddress, isMultihop }) => ({ localAsn, peerAsn, peerAddress, isMultihop })),
    ['169.254.247.0', '169.254.247.1'].map((peerAddress) => ({
      localAsn: 65_401,
      peerAsn: 65_400,
      peerAddress,
      isMultihop: true,
    })),
  )
})

test('the peers of all machines cost two calls', async () => {
  await using cloud = await startCloud()
  const { peering } = cloud.cloudWith(secret)
  await peering.enable(wanted, neverAborted)
  const ids = Array.from({ length: 40 }, (_, n) => String(cloud.control.devices.add({ hostname: `node-${n}` })['id']))
  cloud.control.calls.clear()
  const all = await Promise.all(ids.map((id) => peering.peers(id, neverAborted)))
  assert.is(new Set(all.flat().map(({ sourceAddress }) => sourceAddress)).size, 40)
  assert.equal([cloud.control.calls.count(routes.peerGroups), cloud.control.calls.count(routes.machines)], [1, 1])
})

test('machines of another location, and those without a public address, have no peers, and the error says why', async () => {
  await using cloud = await startCloud()
  const { peering } = cloud.cloudWith(secret)
  await peering.enable(wanted, neverAborted)
  const far = String(cloud.control.devices.add({ hostname: 'far', location: 'ASH' })['id'])
  const inside = String(cloud.control.devices.add({ hostname: 'in', networkType: 'PRIVATE_ONLY' })['id'])
  assert.equal(await peering.machines(neverAborted), new Set([inside]))
  for (const work of [peering.peers(far, neverAborted), peering.enableOn(far, neverAborted)])
    assert.match((await cloudErrorOf(work)).message, 'is in ASH, whose routers know no address of PHX')
  assert.match((await cloudErrorOf(peering.peers(inside, neverAborted))).message, 'has no public IPv4 address')
})

test('an address that is lent to a machine is never the source of its sessions', async () => {
  await using cloud = await startCloud()
  const client = cloud.cloudWith(secret)
  await client.peering.enable(wanted, neverAborted)
  const id = String(cloud.control.devices.add({ hostname: 'a' })['id'])
  const { id: block } = await client.reserve({ location, marks: { usage: 'u', cluster: 'c' } }, neverAborted)
  cloud.control.reservations.assign(block, id)
  const sources = (await client.peering.peers(id, neverAborted)).map(({ sourceAddress }) => sourceAddress)
  assert.equal(new Set(sources), new Set(['198.51.100.1']))
})

test('the error names a location that offers no BGP', async () => {
  await using cloud = await startCloud()
  cloud.control.faults.add({ on: routes.createPeerGroup, answer: 406, message: 'BGP is not offered here' })
  const error = await cloudErrorOf(cloud.cloudWith(secret).peering.enable(wanted, neverAborted))
  assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
  assert.match(error.message, 'BGP is not offered here; check that PHX offers BGP')
})

const group = {
  id: 'g',
  activeAsnDetails: { asn: 65_401 },
  password: 'hush-hush',
  eBgpMultiHop: 7,
  peeringLoopbacksV4: ['169.254.247.1', '169.254.247.0'],
}
const odd: { name: string; changes: object; isRead: boolean }[] = [
  { name: 'nothing', changes: {}, isRead: true },
  { name: 'its number', changes: { activeAsnDetails: undefined }, isRead: true },
  { name: 'its password', changes: { password: undefined }, isRead: false },
  { name: 'its routers', changes: { peeringLoopbacksV4: [] }, isRead: false },
  { name: 'an address', changes: { peeringLoopbacksV4: ['169.254.247.0', 'x'] }, isRead: false },
]
for (const { name, changes, isRead } of odd)
  test(`a peer group that lacks ${name} is ${isRead ? 'read' : 'an error and no change of sessions'}`, () => {
    assert.is(parsePeerGroup({ ...group, ...changes }) !== undefined, isRead)
  })

test('a peer group never shows its password', () => {
  const parsed = parsePeerGroup(group)
  assert.is(parsed?.password.reveal(), 'hush-hush')
  assert.not.match(JSON.stringify(parsed), 'hush')
  assert.equal(parsed?.peerAddresses, ['169.254.247.0', '169.254.247.1'])
})

test.run()
