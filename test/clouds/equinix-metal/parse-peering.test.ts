import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineOf, parsePeers, parseProjectPeering } from '../../../clouds/equinix-metal/peering.ts'
import { fieldsOf } from '../../../clouds/http/loose-json.ts'
import { metalNeighbor, peers } from './fixtures.ts'

const config = { id: '6d9a0f6b', status: 'enabled', deployment_type: 'local', asn: 65_000, md5: null }

const configs: { name: string; body: unknown; is: unknown }[] = [
  { name: 'BGP that is enabled', body: config, is: { asn: 65_000, password: undefined } },
  {
    name: 'BGP that waits for approval',
    body: { ...config, status: 'requested' },
    is: { asn: 65_000, password: undefined },
  },
  {
    name: 'a status nobody has heard of',
    body: { ...config, status: 'cooking' },
    is: { asn: 65_000, password: undefined },
  },
  { name: 'an empty password', body: { ...config, md5: '' }, is: { asn: 65_000, password: undefined } },
  { name: 'the largest ASN', body: { ...config, asn: 4_294_967_295 }, is: { asn: 4_294_967_295, password: undefined } },
  { name: 'BGP that was disabled', body: { ...config, status: 'disabled' }, is: 'off' },
  { name: 'an empty structure', body: {}, is: 'off' },
  { name: 'a structure of nulls', body: { id: null, status: null, asn: null, sessions: [] }, is: 'off' },
  { name: 'an empty id', body: { ...config, id: '' }, is: 'off' },
  { name: 'no ASN', body: { ...config, asn: null }, is: undefined },
  { name: 'an ASN of 0', body: { ...config, asn: 0 }, is: undefined },
  { name: 'an ASN beyond all', body: { ...config, asn: 4_294_967_296 }, is: undefined },
  { name: 'no body', body: undefined, is: undefined },
  { name: 'null', body: null, is: undefined },
  { name: 'a list', body: [], is: undefined },
  { name: 'a text', body: 'off', is: undefined },
]
for (const { name, body, is } of configs)
  test(`the configuration of ${name} is ${is === undefined ? 'not readable' : JSON.stringify(is)}`, () =>
    assert.equal(parseProjectPeering(body), is))

test('the password of a project is shown by reveal alone', () => {
  const peering = parseProjectPeering({ ...config, md5: 'Secret1234' })
  assert.ok(typeof peering === 'object')
  assert.is(peering.password?.reveal(), 'Secret1234')
  assert.not.match(JSON.stringify(peering) + inspect(peering, { showHidden: true }), 'Secret1234')
})

const device = '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711'
const sessions: { device: unknown; is: string | undefined }[] = [
  { device: { href: `/metal/v1/devices/${device}` }, is: device },
  { device: { href: `/devices/${device}` }, is: device },
  { device: { id: device, href: '/devices/other' }, is: device },
  { device: { href: '' }, is: undefined },
  { device: { href: '/devices/' }, is: undefined },
  { device: { href: 7 }, is: undefined },
  { device: null, is: undefined },
]
for (const { device, is } of sessions)
  test(`a session of ${JSON.stringify(device)} is of ${is ?? 'no machine that we know'}`, () =>
    assert.is(machineOf({ device }), is))

const six = metalNeighbor({ address_family: 6, customer_ip: '2001:db8::1', peer_ips: ['fc00::e'] })
const none: unknown[] = []

const neighbors: { name: string; list: unknown[]; is: unknown }[] = [
  { name: 'no neighbors', list: [], is: none },
  { name: 'neighbors for IPv6 alone', list: [six], is: none },
  { name: 'neighbors for IPv6 first', list: [six, metalNeighbor()], is: peers },
  { name: 'a family that is a word', list: [metalNeighbor({ address_family: 'ipv4' })], is: peers },
  {
    name: 'two entries for IPv4, the first of which counts',
    list: [metalNeighbor(), metalNeighbor({ customer_as: 1 })],
    is: peers,
  },
  { name: 'no peers yet', list: [metalNeighbor({ peer_ips: [] })], is: none },
  {
    name: 'a peer that comes twice',
    list: [metalNeighbor({ peer_ips: ['169.254.255.2', '169.254.255.1', '169.254.255.2'] })],
    is: peers,
  },
  {
    name: 'a session of one hop',
    list: [metalNeighbor({ multihop: false })],
    is: peers.map((peer) => ({ ...peer, isMultihop: false })),
  },
  {
    name: 'a password that is not in use',
    list: [metalNeighbor({ md5_enabled: false, md5_password: 'Secret1234' })],
    is: peers,
  },
  { name: 'a password in use that is not shown', list: [metalNeighbor({ md5_enabled: true })], is: undefined },
  { name: 'no ASN of ours', list: [metalNeighbor({ customer_as: null })], is: undefined },
  { name: 'no ASN of theirs', list: [metalNeighbor({ peer_as: '65530' })], is: undefined },
  { name: 'an ASN of 0', list: [metalNeighbor({ peer_as: 0 })], is: undefined },
  { name: 'no address of ours', list: [metalNeighbor({ customer_ip: null })], is: undefined },
  { name: 'no list of peers', list: [metalNeighbor({ peer_ips: null })], is: undefined },
  { name: 'a peer without an address', list: [metalNeighbor({ peer_ips: ['169.254.255.1', null] })], is: undefined },
  { name: 'a peer with half an address', list: [metalNeighbor({ peer_ips: ['169.254.255'] })], is: undefined },
]
for (const { name, list, is } of neighbors)
  test(`${name}: ${is === undefined ? 'not readable' : `${(is as unknown[]).length} peers`}`, () =>
    assert.equal(parsePeers({ bgp_neighbors: list }), is))

test('peers come in the order of their numbers', () => {
  const peer_ips = ['169.254.255.10', '169.254.255.2', '169.254.3.255', '20.0.0.1', '169.254.255.1']
  const found = parsePeers({ bgp_neighbors: [metalNeighbor({ peer_ips })] })
  const addresses = found?.map(({ peerAddress }) => peerAddress)
  assert.equal(addresses, ['20.0.0.1', '169.254.3.255', '169.254.255.1', '169.254.255.2', '169.254.255.10'])
})

test('each peer has the password that is in use, shown by reveal alone', () => {
  const found = parsePeers({ bgp_neighbors: [metalNeighbor({ md5_enabled: true, md5_password: 'Secret1234' })] })
  assert.equal(
    found?.map(({ password }) => password?.reveal()),
    ['Secret1234', 'Secret1234'],
  )
  assert.not.match(JSON.stringify(found) + inspect(found, { showHidden: true, depth: null }), 'Secret1234')
})

for (const body of [undefined, null, [], {}, { bgp_neighbors: null }, { bgp_neighbors: {} }, 'text'])
  test(`${JSON.stringify(body)} is no list of neighbors, not an empty one`, () =>
    assert.is(parsePeers(body), undefined))

test('whatever JSON comes, reading it does not fail', () => {
  const property = fc.property(fc.jsonValue(), (value) => {
    parseProjectPeering(value)
    parsePeers(value)
    parsePeers({ bgp_neighbors: [value, metalNeighbor({ peer_ips: value })] })
    machineOf(fieldsOf(value))
    machineOf({ device: value })
  })
  fc.assert(property)
})

test.run()
