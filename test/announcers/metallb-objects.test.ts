import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, NodePeers } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import type { PeerMode } from '../../announcers/metallb/peers.ts'
import type { BGPAdvertisement, BGPPeer, IPAddressPool } from '../../announcers/metallb/resources.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { aPeer, aPool, anAdvertisement, left, marks } from './cluster.ts'
import { makeNode, makePeer } from './states.ts'

const web = { address: '198.51.100.7', services: ['default/web'] }
const api = { address: '198.51.100.8', services: ['default/api'] }
const label = { 'cloud-provider': 'equinix-metal' }
const labels = { 'app.kubernetes.io/managed-by': 'eip-admission', ...label }
const [a, b] = [makeNode('node-a', { password: 's3cret' }), makeNode('node-b', { sourceAddress: '10.0.0.6' })]

type Given = Partial<Announcements> & { peerMode?: PeerMode; there?: KubeObject[] }

function look({ peerMode = 'native', there = [], addresses = [web], nodes = [] }: Given) {
  const { wanted, problems } = metallbObjects({ ...marks, peerMode }).objects({ addresses, nodes }, there)
  const of = <T extends KubeObject>(kind: T['kind']) =>
    wanted.map(({ object }) => object).filter((object): object is T => object.kind === kind)
  return {
    wanted,
    problems: problems.map(({ concern, message }) => `${Object.values(concern).join()}: ${message}`),
    pools: of<IPAddressPool>('IPAddressPool').map(({ metadata, spec }) => `${metadata.name} ${spec.addresses.join()}`),
    peers: of<BGPPeer>('BGPPeer'),
    advertisements: of<BGPAdvertisement>('BGPAdvertisement').map(({ spec }) => spec),
  }
}

test('a Service and a node make a pool, an advertisement, a peer for each router, and a Secret with the password', () => {
  const { wanted, problems } = look({ nodes: [a] })
  const metadata = (name: string) => ({ name, namespace: 'metallb-system', labels })
  const peer = (peerAddress: string) => ({
    object: {
      apiVersion: 'metallb.io/v1beta2',
      kind: 'BGPPeer',
      metadata: metadata(`node-a.${peerAddress}`),
      spec: {
        myASN: 65000,
        peerASN: 65530,
        peerAddress,
        sourceAddress: '10.0.0.5',
        holdTime: '30s',
        ebgpMultiHop: true,
        passwordSecret: { name: 'bgp-password' },
        nodeSelectors: [{ matchLabels: { 'kubernetes.io/hostname': 'node-a' } }],
      },
    },
    concerns: [{ node: 'node-a' }],
  })
  assert.equal(problems, [])
  assert.equal(wanted, [
    {
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: metadata('bgp-password'),
        type: 'kubernetes.io/basic-auth',
        data: { password: 'czNjcmV0' },
      },
      concerns: [{ node: 'node-a' }],
    },
    {
      object: {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'BGPAdvertisement',
        metadata: metadata('equinix-metal-bgp-adv'),
        spec: { ipAddressPools: [], ipAddressPoolSelectors: [{ matchLabels: labels }] },
      },
      concerns: [{ service: 'default/web' }],
    },
    {
      object: {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        metadata: metadata('198.51.100.7'),
        spec: { addresses: ['198.51.100.7/32'], autoAssign: false },
      },
      concerns: [{ service: 'default/web' }],
    },
    peer('169.254.255.1'),
    peer('169.254.255.2'),
  ])
})

test('by FRR there is one peer for each router, without an address of its own, for all nodes', () => {
  const { peers, problems } = look({ peerMode: 'frr', nodes: [makeNode('node-b'), makeNode('node-a')] })
  assert.equal(problems, [])
  assert.equal(
    peers.map(({ metadata, spec }) => [metadata.name, spec.peerAddress, spec.sourceAddress, spec.nodeSelectors]),
    ['169.254.255.1', '169.254.255.2'].map((router) => {
      const values = ['node-a', 'node-b']
      const selector = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }
      return [`as65000.${router}`, router, undefined, [selector]]
    }),
  )
})

test('with bgp-peer-mode=none peers are somebody else’s, and those that we made before are ours to remove', () => {
  const configuration = metallbObjects({ ...marks, peerMode: 'none' })
  assert.equal(look({ peerMode: 'none', nodes: [a] }).peers, [])
  for (const { object } of look({ nodes: [a] }).wanted) assert.ok(configuration.isOurs(object), object.kind)
})

test('after the last Service nothing is wanted', () => {
  assert.equal(look({ addresses: [], nodes: [a, b] }).wanted, [])
})

test('two Services on one address share its pool', () => {
  const { wanted, pools } = look({ addresses: [web, { ...web, services: ['shop/web', 'default/web'] }] })
  assert.equal(pools, ['198.51.100.7 198.51.100.7/32'])
  assert.equal(wanted.at(-1)?.concerns, [{ service: 'default/web' }, { service: 'shop/web' }])
})

test('a pool that a predecessor made keeps its name, and its advertisement is ours', () => {
  const there = Object.values<KubeObject>(left)
  const { pools, advertisements } = look({ there, addresses: [web, api], nodes: [a] })
  assert.equal(pools, ['default.web 198.51.100.7/32', '198.51.100.8 198.51.100.8/32'])
  assert.equal(advertisements, [{ ipAddressPools: [], ipAddressPoolSelectors: [{ matchLabels: labels }] }])
  const configuration = metallbObjects({ ...marks, peerMode: 'native' })
  assert.ok(there.every((object) => configuration.isOurs(object)))
})

const own = { ...labels }
const ownership: { name: string; object: KubeObject; is: boolean }[] = [
  { name: 'what we wrote', object: aPool({ name: 'x', labels: own, addresses: [] }), is: true },
  {
    name: 'a pool with the label that counts no Service',
    object: aPool({ name: 'x', labels: label, addresses: [] }),
    is: false,
  },
  { name: 'a pool without the label', object: aPool({ ...left.pool.spec, name: 'default.web' }), is: false },
  {
    name: 'an advertisement with the label and another name',
    object: anAdvertisement({ name: 'mine', labels: label }),
    is: false,
  },
  { name: 'our advertisement without the label', object: anAdvertisement({ name: marks.advertisement }), is: false },
  { name: 'a numbered peer of a node', object: left.uncounted, is: true },
  { name: 'a numbered peer of a region', object: regional('lt-siauliai-0'), is: true },
  { name: 'a peer of a region with a name of its own', object: regional('lithuania'), is: false },
  {
    name: 'what is in another namespace',
    object: { ...left.pool, metadata: { ...left.pool.metadata, namespace: 'x' } },
    is: false,
  },
]

function regional(name: string): BGPPeer {
  const nodeSelectors = [{ matchLabels: { 'topology.kubernetes.io/region': 'LT-Siauliai' } }]
  return aPeer({ name, labels: label, myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1', nodeSelectors })
}

for (const { name, object, is } of ownership) {
  test(`${name} is ${is ? 'ours' : "somebody else's"}`, () => {
    assert.is(metallbObjects({ ...marks, peerMode: 'native' }).isOurs(object), is)
  })
}

test('an address in a pool of somebody else stays there', () => {
  const there = [aPool({ name: 'office', addresses: ['10.0.0.0/8', '198.51.100.0-198.51.100.7'] })]
  const { pools, problems } = look({ there, addresses: [web, api] })
  assert.equal(pools, ['198.51.100.8 198.51.100.8/32'])
  assert.equal(problems, [
    'default/web: 198.51.100.7 is in IPAddressPool office, which is not ours: it gets no other one',
  ])
})

test('a pool that is ours already stays, whatever other people write beside it', () => {
  const [pool] = look({})
    .wanted.map(({ object }) => object)
    .slice(-1)
  const there = [...(pool ? [pool] : []), aPool({ name: 'office', addresses: ['198.51.100.0/24'] })]
  assert.equal(look({ there }).pools, ['198.51.100.7 198.51.100.7/32'])
})

test('what somebody else named as we would is left alone, and whom it concerns is told', () => {
  const there = [aPool({ name: '198.51.100.7', addresses: ['203.0.113.0/24'] })]
  const { pools, problems } = look({ there })
  assert.equal(pools, [])
  assert.equal(problems, [
    'default/web: IPAddressPool metallb-system/198.51.100.7 is there and is not ours: it is left alone',
  ])
})

const toAll = { ipAddressPools: [], ipAddressPoolSelectors: [{ matchLabels: labels }] }
const toApi = { ipAddressPools: ['198.51.100.8'], ipAddressPoolSelectors: [] }
const advertising: { name: string; theirs: Omit<Parameters<typeof anAdvertisement>[0], 'name'>; ours: object[] }[] = [
  { name: 'with our label, for all pools, replaces ours', theirs: { labels: label }, ours: [] },
  {
    name: 'with our label, for one pool, replaces ours for that one',
    theirs: { labels: label, ipAddressPools: ['198.51.100.7'] },
    ours: [toApi],
  },
  { name: 'without our label changes nothing', theirs: {}, ours: [toAll] },
  {
    name: 'with another local preference cannot be beside ours',
    theirs: { localPref: 100, ipAddressPools: ['198.51.100.7'] },
    ours: [toApi],
  },
  {
    name: 'with another local preference for some Services alone changes nothing',
    theirs: { localPref: 100, serviceSelectors: [{ matchLabels: { tier: 'gold' } }] },
    ours: [toAll],
  },
]
for (const { name, theirs, ours } of advertising) {
  test(`an advertisement that a person made ${name}`, () => {
    const there = [anAdvertisement({ name: 'mine', ...theirs })]
    assert.equal(look({ there, addresses: [web, api] }).advertisements, ours)
  })
}

test('beside advertisements that roll up its route, or disagree, MetalLB would refuse a pool, and it is not written', () => {
  const rolling = look({ there: [anAdvertisement({ name: 'rolling', aggregationLength: 24 })] })
  assert.equal(rolling.pools, [])
  assert.match(rolling.problems.join(), /default\/web: 198\.51\.100\.7 gets no pool, as BGPAdvertisement rolling/)
  const two = [anAdvertisement({ name: 'one' }), anAdvertisement({ name: 'other', localPref: 1 })]
  assert.match(look({ there: two }).problems.join(), /BGPAdvertisement one and other/)
  const apart = [
    anAdvertisement({ name: 'one', peers: ['x'] }),
    anAdvertisement({ name: 'other', localPref: 1, peers: ['y'] }),
  ]
  assert.equal(look({ there: apart }).problems, [])
})

const strange: {
  name: string
  peerMode?: PeerMode
  addresses?: Announcements['addresses']
  nodes?: NodePeers[]
  problems: string[]
}[] = [
  {
    name: 'an address that is none',
    addresses: [{ address: 'lb.example.com', services: ['default/web'] }],
    problems: ['default/web: "lb.example.com" is not an address'],
  },
  {
    name: 'IPv6 without FRR',
    addresses: [{ address: '2001:db8::7', services: ['default/web'] }],
    problems: ['default/web: 2001:db8::7 is IPv6, which MetalLB announces over BGP only by FRR (bgp-peer-mode=frr)'],
  },
  {
    name: 'IPv6 by FRR',
    peerMode: 'frr',
    addresses: [{ address: '2001:db8::7', services: ['default/web'] }],
    problems: [],
  },
  {
    name: 'a node without a hostname',
    nodes: [{ ...b, hostname: '' }],
    problems: ['node-b: a BGP session is not configured: the node has no label kubernetes.io/hostname'],
  },
  {
    name: 'two nodes with one hostname',
    nodes: [{ ...b, hostname: 'node-a' }, a],
    problems: ['node-b: a BGP session is not configured: node node-a has the same label kubernetes.io/hostname=node-a'],
  },
  {
    name: 'two sessions of a node with one router',
    nodes: [{ ...a, peers: [makePeer(), makePeer({ peerAsn: 65531 }), makePeer()] }],
    problems: ['node-a: a BGP session is not configured: there are two with 169.254.255.1, unlike each other'],
  },
  {
    name: 'a router whose address is none',
    nodes: [{ ...a, peers: [makePeer({ peerAddress: 'router' })] }],
    problems: ['node-a: a BGP session is not configured: its router\'s address is "router"'],
  },
  {
    name: 'an AS number that is none',
    nodes: [{ ...a, peers: [makePeer({ localAsn: 0 })] }],
    problems: ['node-a: a BGP session is not configured: its AS numbers are 0 and 65530'],
  },
  {
    name: 'by FRR, a node in another AS than most',
    peerMode: 'frr',
    nodes: [makeNode('node-a', { localAsn: 65001 }), makeNode('node-b'), makeNode('node-c')],
    problems: [
      'node-a: a BGP session is not configured: most nodes speak otherwise with their routers, and FRR can do it in one way only',
    ],
  },
  {
    name: 'a node with another password than most',
    nodes: [
      makeNode('node-a', { password: 'x' }),
      makeNode('node-b', { password: 'y' }),
      makeNode('node-c', { password: 'y' }),
    ],
    problems: ['node-a: a BGP session is not configured: its password is not that of most nodes'],
  },
]
for (const { name, problems, ...given } of strange) {
  test(`told of: ${name}`, () => assert.equal(look(given).problems, problems))
}

test('by FRR a peer of somebody else for the same router is left to do it', () => {
  const there = [aPeer({ name: 'mine', myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' })]
  const { peers, problems } = look({ peerMode: 'frr', there, nodes: [makeNode('node-a')] })
  assert.equal(
    peers.map(({ metadata }) => metadata.name),
    ['as65000.169.254.255.2'],
  )
  assert.equal(problems, [
    'node-a: a BGP session is not configured: BGPPeer mine, which is not ours, cannot be beside it by FRR',
  ])
})

test('by FRR what a node has already stays when somebody configures another router on another node', () => {
  const before = look({ peerMode: 'frr', nodes: [makeNode('node-a')] })
  const theirs = aPeer({
    name: 'mine',
    myASN: 64512,
    peerASN: 64513,
    peerAddress: '10.9.9.9',
    nodeSelectors: [{ matchLabels: { 'kubernetes.io/hostname': 'node-b' } }],
  })
  const there = [...before.wanted.map(({ object }) => object), theirs]
  const { peers } = look({
    peerMode: 'frr',
    there,
    nodes: [makeNode('node-a'), makeNode('node-b'), makeNode('node-c')],
  })
  assert.equal(
    peers.flatMap(({ spec }) => spec.nodeSelectors?.[0]?.matchExpressions?.[0]?.values),
    ['node-a', 'node-c', 'node-a', 'node-c'],
  )
})

test('by FRR a node keeps its sessions when somebody configures another router on it', () => {
  const before = look({ peerMode: 'frr', nodes: [makeNode('node-a')] })
  const theirs = aPeer({ name: 'mine', myASN: 64512, peerASN: 64513, peerAddress: '10.9.9.9' })
  const there = [...before.wanted.map(({ object }) => object), theirs]
  assert.equal(look({ peerMode: 'frr', there, nodes: [makeNode('node-a')] }).wanted, before.wanted)
})

test('within one AS there are no hops to count', () => {
  const { peers } = look({ nodes: [makeNode('node-a', { peerAsn: 65000 })] })
  assert.equal(
    peers.map(({ spec }) => spec.ebgpMultiHop),
    [false, false],
  )
})

test('a password that is gone is unsaid', () => {
  const there = look({ nodes: [a] }).wanted.map(({ object }) => object)
  const now = look({ there, nodes: [makeNode('node-a')] })
  assert.equal(
    now.peers.map(({ spec }) => spec.passwordSecret),
    [{ name: '' }, { name: '' }],
  )
  assert.not(now.wanted.some(({ object }) => object.kind === 'Secret'))
  assert.equal(
    look({ nodes: [makeNode('node-a')] }).peers.map(({ spec }) => spec.passwordSecret),
    [undefined, undefined],
  )
})

test('a pool of ours announces its address, one of somebody else does not count', () => {
  const configuration = metallbObjects({ ...marks, peerMode: 'native' })
  const [advertisement, pool] = look({}).wanted.map(({ object }) => object)
  assert.ok(pool && advertisement)
  assert.is(configuration.announces(pool, '198.51.100.7'), true)
  assert.is(configuration.announces(pool, '198.51.100.8'), false)
  assert.is(configuration.announces(advertisement, '198.51.100.7'), false)
  assert.is(configuration.announces(aPool({ name: 'x', addresses: ['198.51.100.0/24'] }), '198.51.100.7'), false)
})

test.run()
