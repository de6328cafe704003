import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, NodePeers } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import type { PeerMode } from '../../announcers/setting.ts'
import { type BGPAdvertisement, type BGPPeer, type IPAddressPool, isPool } from '../../announcers/metallb/resources.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { aPeer, aPool, anAdvertisement, left, marks } from './cluster.ts'
import { makeNode, makePeer } from './states.ts'

const web = { address: '198.51.100.7', services: ['default/web'] }
const api = { address: '198.51.100.8', services: ['default/api'] }
const label = { 'cloud-provider': 'equinix-metal' }
const labels = { 'app.kubernetes.io/managed-by': 'eip-admission', ...label }
const [a, b] = [makeNode('node-a', { password: 's3cret' }), makeNode('node-b', { sourceAddress: '10.0.0.6' })]

type Given = Partial<Announcements> & { peerMode?: PeerMode; existing?: KubeObject[] }

function look({ peerMode = 'native', existing = [], addresses = [web], nodes = [], visible = [], facts }: Given) {
  const state = { addresses, nodes, visible, ...(facts && { facts }) }
  const { wanted, problems, isHeld } = metallbObjects({ ...marks, peerMode }).objects(state, existing)
  const of = <T extends KubeObject>(kind: T['kind']) =>
    wanted.map(({ object }) => object).filter((object): object is T => object.kind === kind)
  return {
    wanted,
    isHeld,
    problems: problems.map(({ subject, message }) => `${Object.values(subject).join()}: ${message}`),
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
    subjects: [{ node: 'node-a' }],
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
      subjects: [{ node: 'node-a' }],
    },
    {
      object: {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'BGPAdvertisement',
        metadata: metadata('equinix-metal-bgp-adv'),
        spec: { ipAddressPools: ['198.51.100.7'] },
      },
      subjects: [{ service: 'default/web' }],
    },
    {
      object: {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'IPAddressPool',
        metadata: metadata('198.51.100.7'),
        spec: { addresses: ['198.51.100.7/32'], autoAssign: false, serviceAllocation: { namespaces: ['default'] } },
      },
      subjects: [{ service: 'default/web' }],
    },
    peer('169.254.255.1'),
    peer('169.254.255.2'),
  ])
})

test('in FRR mode one peer for each router, without a source address, serves all nodes', () => {
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

test('with bgp-peer-mode=none we write no peers, and remove those that we wrote before', () => {
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
  assert.equal(wanted.at(-1)?.subjects, [{ service: 'default/web' }, { service: 'shop/web' }])
})

test('a new pool is for the namespaces of its Services, and of those that show its address', () => {
  const namespaces = (given: Given) => {
    const [pool] = look(given)
      .wanted.map(({ object }) => object)
      .filter(isPool)
    return pool && { has: 'serviceAllocation' in pool.spec, namespaces: pool.spec.serviceAllocation?.namespaces }
  }
  const shared = { ...web, services: ['shop/web', 'default/web', 'shop/api'] }
  assert.equal(namespaces({ addresses: [shared] }), { has: true, namespaces: ['default', 'shop'] })
  const visible = [
    { ...web, services: ['other/web'] },
    { ...api, services: ['third/web'] },
  ]
  assert.equal(namespaces({ visible }), { has: true, namespaces: ['default', 'other'] })

  const stored = aPool({ name: '198.51.100.7', labels, addresses: ['198.51.100.7/32'], autoAssign: false })
  const kept = { ...stored, spec: { ...stored.spec, serviceAllocation: { namespaces: ['shop'] } } }
  assert.equal(namespaces({ existing: [kept] }), { has: true, namespaces: ['default'] })
  // MetalLB up to 0.13.8 knows no such field: it would be written again and again.
  assert.equal(namespaces({ existing: [stored] }), { has: false, namespaces: undefined })
  const theirs = { ...stored, spec: { ...stored.spec, serviceAllocation: {} } }
  assert.equal(namespaces({ existing: [theirs] }), { has: false, namespaces: undefined })
})

test('a pool of a predecessor keeps its name, and we adopt its advertisement', () => {
  const existing = Object.values<KubeObject>(left)
  const { pools, advertisements } = look({ existing, addresses: [web, api], nodes: [a] })
  assert.equal(pools, ['default.web 198.51.100.7/32', 'default.api 198.51.100.8/32'])
  assert.equal(advertisements, [{ ipAddressPools: ['default.web', 'default.api'] }])
  const configuration = metallbObjects({ ...marks, peerMode: 'native' })
  assert.ok(existing.every((object) => configuration.isOurs(object)))
})

test('after a takeover a new pool is named and labelled as the predecessor would, unless that name is taken', () => {
  const existing = Object.values<KubeObject>(left)
  const { wanted } = look({ existing, addresses: [api], nodes: [a] })
  const pool = wanted.find(({ object }) => object.metadata.name === 'default.api')?.object
  assert.is(pool?.metadata.labels?.['service-api'], 'namespace-default')
  const moved = { address: '198.51.100.9', services: ['default/web'] }
  assert.equal(look({ existing, addresses: [web, moved], nodes: [a] }).pools, [
    'default.web 198.51.100.7/32',
    '198.51.100.9 198.51.100.9/32',
  ])
  const two = [api, { ...api, address: '198.51.100.9' }]
  assert.equal(look({ existing, addresses: two, nodes: [a] }).pools, [
    'default.api 198.51.100.8/32',
    '198.51.100.9 198.51.100.9/32',
  ])
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

test('an address in a foreign pool stays there', () => {
  const existing = [aPool({ name: 'office', addresses: ['10.0.0.0/8', '198.51.100.0-198.51.100.7'] })]
  const { pools, problems } = look({ existing, addresses: [web, api] })
  assert.equal(pools, ['198.51.100.8 198.51.100.8/32'])
  assert.equal(problems, [
    'default/web: address 198.51.100.7 is in IPAddressPool office, which eip-admission does not manage, so eip-admission cannot give it its own pool; remove the address from that pool',
  ])
})

test('our pool stays, whatever foreign objects are added', () => {
  const [pool] = look({})
    .wanted.map(({ object }) => object)
    .slice(-1)
  const existing = [...(pool ? [pool] : []), aPool({ name: 'office', addresses: ['198.51.100.0/24'] })]
  assert.equal(look({ existing }).pools, ['198.51.100.7 198.51.100.7/32'])
})

test('a foreign object with the name of ours is not changed, and the Service gets a problem', () => {
  const existing = [aPool({ name: '198.51.100.7', addresses: ['203.0.113.0/24'] })]
  const { pools, problems } = look({ existing })
  assert.equal(pools, [])
  assert.equal(problems, [
    'default/web: IPAddressPool metallb-system/198.51.100.7 exists and eip-admission does not manage it, so it is not changed; delete or rename it',
  ])
})

const gold = [{ matchLabels: { tier: 'gold' } }]
const goldenWeb = new Map([['default/web', { labels: { tier: 'gold' } }]])
const toAll = { ipAddressPools: ['198.51.100.7', '198.51.100.8'] }
const toApi = { ipAddressPools: ['198.51.100.8'] }
const advertising: { name: string; foreign: Omit<Parameters<typeof anAdvertisement>[0], 'name'>; ours: object[] }[] = [
  { name: 'with our label, for all pools, replaces ours', foreign: { labels: label }, ours: [] },
  {
    name: 'with our label, for one pool, replaces ours for that one',
    foreign: { labels: label, ipAddressPools: ['198.51.100.7'] },
    ours: [toApi],
  },
  { name: 'without our label changes nothing', foreign: {}, ours: [toAll] },
  {
    name: 'with another local preference replaces ours, which MetalLB would refuse',
    foreign: { localPref: 100, ipAddressPools: ['198.51.100.7'] },
    ours: [toApi],
  },
  {
    name: 'with a longer AS path replaces ours, which MetalLB would refuse from 0.16.2 on',
    foreign: { asPathPrepend: 3, ipAddressPools: ['198.51.100.7'] },
    ours: [toApi],
  },
  {
    name: 'with another local preference for some Services alone leaves ours as it is',
    foreign: { localPref: 100, serviceSelectors: gold },
    ours: [toAll],
  },
]
for (const { name, foreign, ours } of advertising) {
  test(`an advertisement that a person made ${name}`, () => {
    const existing = [anAdvertisement({ name: 'mine', ...foreign })]
    assert.equal(look({ existing, addresses: [web, api] }).advertisements, ours)
  })
}

/** Objects that MetalLB accepts, and because of which its speakers announce a Service to nobody. */
const silencing: { name: string; existing: BGPAdvertisement[]; says: string | undefined }[] = [
  {
    name: 'with another local preference for it',
    existing: [anAdvertisement({ name: 'mine', localPref: 100, serviceSelectors: gold })],
    says: 'equinix-metal-bgp-adv and mine',
  },
  {
    name: 'with a longer AS path for it',
    existing: [anAdvertisement({ name: 'mine', asPathPrepend: 1, serviceSelectors: gold })],
    says: 'equinix-metal-bgp-adv and mine',
  },
  {
    name: 'with our local preference for it',
    existing: [anAdvertisement({ name: 'mine', serviceSelectors: gold })],
    says: undefined,
  },
  {
    name: 'with another local preference for other Services',
    existing: [anAdvertisement({ name: 'mine', localPref: 100, serviceSelectors: [{ matchLabels: { tier: 'tin' } }] })],
    says: undefined,
  },
  {
    name: 'with another local preference for another pool',
    existing: [anAdvertisement({ name: 'mine', localPref: 100, serviceSelectors: gold, ...toApi })],
    says: undefined,
  },
  {
    name: 'with one local preference for it, where another has the place of ours',
    existing: [
      anAdvertisement({ name: 'all', localPref: 50 }),
      anAdvertisement({ name: 'mine', localPref: 100, serviceSelectors: gold }),
    ],
    says: 'all and mine',
  },
  {
    name: 'with two local preferences for it, from other nodes each',
    existing: [
      anAdvertisement({ name: 'all', localPref: 50, nodeSelectors: [{ matchLabels: { rack: 'a' } }], labels: label }),
      anAdvertisement({
        name: 'mine',
        localPref: 100,
        nodeSelectors: [{ matchLabels: { rack: 'b' } }],
        serviceSelectors: gold,
      }),
    ],
    says: undefined,
  },
]
for (const { name, existing, says } of silencing) {
  test(`an advertisement that a person made ${name} ${says ? 'silences the Service' : 'is in no way'}`, () => {
    const { problems, pools, isHeld } = look({ existing, addresses: [web, api], facts: goldenWeb })
    assert.equal(
      problems,
      says === undefined
        ? []
        : [
            `default/web: MetalLB announces 198.51.100.7 to no peer, because BGPAdvertisements ${says} disagree about localPref or asPathPrepend; make mine name IPAddressPool 198.51.100.7 in ipAddressPools, and nothing in serviceSelectors`,
          ],
    )
    assert.equal([pools.length, isHeld], [2, false], 'MetalLB accepts it')
  })
}

const [oldChoice, newChoice] = ['metallb.universe.tf/address-pool', 'metallb.io/address-pool']
const choices: { name: string; annotations: Record<string, string>; visible?: (typeof web)[]; refused?: string }[] = [
  { name: 'none', annotations: { 'a.test/b': 'mailserver' } },
  { name: 'another pool', annotations: { [newChoice]: 'mailserver' }, refused: newChoice },
  { name: 'another pool, by the previous name', annotations: { [oldChoice]: 'mailserver' }, refused: oldChoice },
  { name: 'the pool of the address', annotations: { [oldChoice]: 'mailserver', [newChoice]: '198.51.100.7' } },
  { name: 'no pool', annotations: { [newChoice]: '' } },
  { name: 'another pool, and MetalLB gave it the address', annotations: { [newChoice]: 'mailserver' }, visible: [web] },
]
for (const { name, annotations, visible = [], refused } of choices) {
  test(`a Service that chooses ${name} is ${refused ? 'told that MetalLB refuses its address' : 'told nothing'}`, () => {
    const facts = new Map([['default/web', { annotations }]])
    const { problems, pools } = look({ addresses: [web, api], facts, visible })
    const says = `MetalLB refuses address 198.51.100.7: annotation ${refused}: "mailserver" chooses another pool, and the address is in IPAddressPool 198.51.100.7; remove the annotation`
    assert.equal(problems, refused ? [`default/web: ${says}`] : [])
    assert.is(pools.length, 2, 'it gets the address when the annotation no longer exists')
  })
}

test('a pool is not written if MetalLB would refuse it because of advertisements that aggregate or disagree', () => {
  const rolling = look({ existing: [anAdvertisement({ name: 'rolling', aggregationLength: 24 })] })
  assert.equal(rolling.pools, [])
  assert.match(
    rolling.problems.join(),
    /default\/web: address 198\.51\.100\.7 gets no pool: MetalLB would refuse the pool, because BGPAdvertisement rolling/,
  )
  const two = [anAdvertisement({ name: 'one' }), anAdvertisement({ name: 'other', localPref: 1 })]
  assert.match(look({ existing: two }).problems.join(), /BGPAdvertisement one and other/)
  const longer = [anAdvertisement({ name: 'one' }), anAdvertisement({ name: 'other', asPathPrepend: 1 })]
  assert.match(look({ existing: longer }).problems.join(), /BGPAdvertisement one and other .* asPathPrepend/)
  const apart = [
    anAdvertisement({ name: 'one', peers: ['x'] }),
    anAdvertisement({ name: 'other', localPref: 1, peers: ['y'] }),
  ]
  assert.equal(look({ existing: apart, peerMode: 'none' }).problems, [])
})

const narrow: { name: string; mine: Omit<Parameters<typeof anAdvertisement>[0], 'name'>; isInWay: boolean }[] = [
  { name: 'to some peers', mine: { localPref: 100, peers: ['office'] }, isInWay: true },
  {
    name: 'from some nodes',
    mine: { localPref: 100, nodeSelectors: [{ matchLabels: { role: 'edge' } }] },
    isInWay: true,
  },
  { name: 'to some peers with a longer AS path', mine: { asPathPrepend: 3, peers: ['office'] }, isInWay: true },
  { name: 'to some peers without a preference', mine: { peers: ['office'] }, isInWay: false },
  { name: 'to all peers', mine: { localPref: 100 }, isInWay: false },
  {
    name: 'to some peers for some Services',
    mine: { localPref: 100, peers: ['office'], serviceSelectors: gold },
    isInWay: false,
  },
  { name: 'to some peers for another pool', mine: { localPref: 100, peers: ['office'], ...toApi }, isInWay: false },
  { name: 'to some peers with our label', mine: { labels: label, localPref: 100, peers: ['office'] }, isInWay: false },
]
for (const { name, mine, isInWay } of narrow) {
  test(`an advertisement that a person made ${name} ${isInWay ? 'keeps us from a new pool' : 'is in no way'}`, () => {
    const existing = [anAdvertisement({ name: 'mine', ...mine })]
    const { pools, problems, isHeld } = look({ existing })
    assert.is(isHeld, isInWay, 'without a pool MetalLB announces nothing')
    assert.equal(pools, isInWay ? [] : ['198.51.100.7 198.51.100.7/32'])
    assert.is(problems.length, isInWay ? 1 : 0)
    if (!isInWay) return
    assert.match(
      problems[0] ?? '',
      /^default\/web: address 198\.51\.100\.7 gets no pool: BGPAdvertisement mine announces it only to some peers or from some nodes, and MetalLB refuses a second advertisement with a different localPref or asPathPrepend; make mine select other pools, or, if you want this, give it the label cloud-provider=equinix-metal$/,
    )
    const ours = aPool({ name: '198.51.100.7', labels, addresses: ['198.51.100.7/32'] })
    assert.equal(
      look({ existing: [...existing, ours] }).pools,
      pools.concat('198.51.100.7 198.51.100.7/32'),
      'ours stays',
    )
    const wide = anAdvertisement({ ...mine, name: 'wide', peers: [], nodeSelectors: [] })
    assert.equal(look({ existing: [...existing, wide] }).problems, [], 'another one announces it everywhere')
  })
}

const [toFirst, toSecond] = ['node-a.169.254.255.1', 'node-a.169.254.255.2'].map((peer, at) =>
  anAdvertisement({ name: `to-${at}`, localPref: 100 * (at + 1), peers: [peer] }),
) as [BGPAdvertisement, BGPAdvertisement]
const fabric = aPeer({ name: 'fabric', myASN: 65000, peerASN: 64512, peerAddress: '10.9.9.9' })
const onEdge = { ...toSecond, spec: { ...toSecond.spec, nodeSelectors: [{ matchLabels: { role: 'edge' } }] } }
const together: { name: string; existing: KubeObject[]; peerMode?: PeerMode; nodes?: NodePeers[]; isInWay: boolean }[] =
  [
    { name: 'have each peer that we write', existing: [toFirst, toSecond], isInWay: false },
    { name: 'lack a peer that we write', existing: [toFirst], isInWay: true },
    { name: 'lack a peer of a person', existing: [toFirst, toSecond, fabric], isInWay: true },
    { name: 'have one of the peers from some nodes alone', existing: [toFirst, onEdge], isInWay: true },
    { name: 'are for peers that nobody has written yet', existing: [toFirst, toSecond], nodes: [], isInWay: true },
    { name: 'are for one peer, where people write the peers', existing: [toFirst], peerMode: 'none', isInWay: false },
  ]
for (const { name, existing, peerMode = 'native', nodes = [a], isInWay } of together) {
  test(`narrow advertisements that ${name} ${isInWay ? 'keep us from a new pool' : 'are in no way'}`, () => {
    const { pools, problems } = look({ existing, nodes, peerMode })
    assert.equal(pools, isInWay ? [] : ['198.51.100.7 198.51.100.7/32'])
    assert.is(problems.length, isInWay ? 1 : 0)
  })
}

test('what would leave MetalLB without a session holds the previous announcer, unless people write the peers', () => {
  const taken = ['node-a.169.254.255.1', 'node-a.169.254.255.2'].map((name) =>
    aPeer({ name, myASN: 65000, peerASN: 64512, peerAddress: '10.9.9.9' }),
  )
  assert.is(look({ nodes: [a] }).isHeld, false)
  assert.is(look({ nodes: [a], existing: taken.slice(1) }).isHeld, false)
  assert.is(look({ nodes: [a], existing: taken }).isHeld, true)
  assert.is(look({ nodes: [a], existing: taken, peerMode: 'none' }).isHeld, false)
  assert.is(look({ nodes: [a], existing: taken, addresses: [] }).isHeld, undefined)
})

test('a foreign advertisement with the name of our own holds the previous announcer, unless it selects our pools', () => {
  const named = { name: marks.advertisement, ipAddressPools: ['office'] }
  assert.is(look({ nodes: [a], existing: [anAdvertisement(named)] }).isHeld, true)
  const labelled = { ...named, labels: label }
  assert.is(look({ nodes: [a], existing: [anAdvertisement(labelled)] }).isHeld, false, "it is a predecessor's")
  const forAll = anAdvertisement({ name: 'office', localPref: 200 })
  assert.is(look({ nodes: [a], existing: [anAdvertisement(named), forAll] }).isHeld, false)
})

const strange: {
  name: string
  peerMode?: PeerMode
  addresses?: Announcements['addresses']
  nodes?: NodePeers[]
  problems: string[]
}[] = [
  {
    name: 'a text that is not an address',
    addresses: [{ address: 'lb.example.com', services: ['default/web'] }],
    problems: ['default/web: "lb.example.com" is not an IP address that MetalLB can announce'],
  },
  {
    name: 'IPv6 without FRR',
    addresses: [{ address: '2001:db8::7', services: ['default/web'] }],
    problems: [
      'default/web: address 2001:db8::7 is IPv6, which MetalLB announces over BGP only in FRR mode; set bgp-peer-mode=frr in the load balancer setting',
    ],
  },
  {
    name: 'IPv6 in FRR mode',
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
    problems: [
      'node-a: a BGP session is not configured: the provider lists two different sessions with router 169.254.255.1',
    ],
  },
  {
    name: 'a router without a valid address',
    nodes: [{ ...a, peers: [makePeer({ peerAddress: 'router' })] }],
    problems: [`node-a: a BGP session is not configured: the router's address "router" is not an IP address`],
  },
  {
    name: 'an AS number out of range',
    nodes: [{ ...a, peers: [makePeer({ localAsn: 0 })] }],
    problems: [
      'node-a: a BGP session is not configured: an AS number is not from 1 to 4294967295: 0 of the node, 65530 of the router',
    ],
  },
  {
    name: 'in FRR mode, a node in another AS than most',
    peerMode: 'frr',
    nodes: [makeNode('node-a', { localAsn: 65001 }), makeNode('node-b'), makeNode('node-c')],
    problems: [
      'node-a: a BGP session is not configured: its AS number, hops or password differ from those of most nodes, and FRR can use only one',
    ],
  },
  {
    name: 'a node with another password than most',
    nodes: [
      makeNode('node-a', { password: 'x' }),
      makeNode('node-b', { password: 'y' }),
      makeNode('node-c', { password: 'y' }),
    ],
    problems: [
      'node-a: a BGP session is not configured: its password differs from that of most nodes, and only one can be configured',
    ],
  },
]
for (const { name, problems, ...given } of strange) {
  test(`a problem is reported: ${name}`, () => assert.equal(look(given).problems, problems))
}

test('in FRR mode a foreign peer for the same router is kept, and none is written beside it', () => {
  const existing = [aPeer({ name: 'mine', myASN: 65000, peerASN: 65530, peerAddress: '169.254.255.1' })]
  const { peers, problems } = look({ peerMode: 'frr', existing, nodes: [makeNode('node-a')] })
  assert.equal(
    peers.map(({ metadata }) => metadata.name),
    ['as65000.169.254.255.2'],
  )
  assert.equal(problems, [
    'node-a: a BGP session is not configured: it conflicts with BGPPeer mine, which eip-admission does not manage: FRR has one AS number and one session for each router',
  ])
})

test('in FRR mode a node keeps its sessions when a person configures another router on another node', () => {
  const before = look({ peerMode: 'frr', nodes: [makeNode('node-a')] })
  const foreign = aPeer({
    name: 'mine',
    myASN: 64512,
    peerASN: 64513,
    peerAddress: '10.9.9.9',
    nodeSelectors: [{ matchLabels: { 'kubernetes.io/hostname': 'node-b' } }],
  })
  const existing = [...before.wanted.map(({ object }) => object), foreign]
  const { peers } = look({
    peerMode: 'frr',
    existing,
    nodes: [makeNode('node-a'), makeNode('node-b'), makeNode('node-c')],
  })
  assert.equal(
    peers.flatMap(({ spec }) => spec.nodeSelectors?.[0]?.matchExpressions?.[0]?.values),
    ['node-a', 'node-c', 'node-a', 'node-c'],
  )
})

test('in FRR mode a node keeps its sessions when a person configures another router on it', () => {
  const before = look({ peerMode: 'frr', nodes: [makeNode('node-a')] })
  const foreign = aPeer({ name: 'mine', myASN: 64512, peerASN: 64513, peerAddress: '10.9.9.9' })
  const existing = [...before.wanted.map(({ object }) => object), foreign]
  assert.equal(look({ peerMode: 'frr', existing, nodes: [makeNode('node-a')] }).wanted, before.wanted)
})

test('a session within one AS is never multi-hop', () => {
  const { peers } = look({ nodes: [makeNode('node-a', { peerAsn: 65000 })] })
  assert.equal(
    peers.map(({ spec }) => spec.ebgpMultiHop),
    [false, false],
  )
})

test('a password that the provider no longer has is removed from the peer', () => {
  const existing = look({ nodes: [a] }).wanted.map(({ object }) => object)
  const now = look({ existing, nodes: [makeNode('node-a')] })
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

test('our pool makes MetalLB announce its address; a foreign pool does not count', () => {
  const configuration = metallbObjects({ ...marks, peerMode: 'native' })
  const [advertisement, pool] = look({}).wanted.map(({ object }) => object)
  assert.ok(pool && advertisement)
  assert.is(configuration.hasAddress(pool, '198.51.100.7'), true)
  assert.is(configuration.hasAddress(pool, '198.51.100.8'), false)
  assert.is(configuration.hasAddress(advertisement, '198.51.100.7'), false)
  assert.is(configuration.hasAddress(aPool({ name: 'x', addresses: ['198.51.100.0/24'] }), '198.51.100.7'), false)
})

test.run()
