import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { ciliumObjects } from '../../announcers/cilium/objects.ts'
import type { BGPAdvertisement } from '../../announcers/cilium/resources.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { makeNode } from './states.ts'

const configuration = ciliumObjects({ secretsNamespace: 'kube-system' })
const [address, second] = ['198.51.100.7', '198.51.100.8']

const state: Announcements = {
  addresses: [
    { address: second, services: ['shop/web', 'default/api'] },
    { address, services: ['default/web'] },
  ],
  nodes: [
    makeNode('node-b', { password: 's3cret', sourceAddress: '10.0.0.6' }),
    makeNode('node-a', { password: 's3cret' }),
  ],
}

function plan(changes: Partial<Announcements> = {}, existing: KubeObject[] = []) {
  const { wanted, problems, isHeld = false } = configuration.objects({ ...state, ...changes }, existing)
  const objects = wanted.map(({ object }) => object as KubeObject & { spec?: unknown })
  const find = (kind: string, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name)
  return { find, problems, isHeld, names: objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`) }
}

/** Which Services are announced. */
function selectorsOf({ find }: ReturnType<typeof plan>) {
  const { spec } = find('CiliumBGPAdvertisement', 'eip-admission') ?? {}
  return ((spec as BGPAdvertisement['spec'] | undefined)?.advertisements ?? []).map(({ selector }) => selector)
}

const among = (key: string, values: string[]) => ({ key: `io.kubernetes.service.${key}`, operator: 'In', values })

function selecting(namespaces: string[], names: string[]) {
  return { matchExpressions: [among('namespace', namespaces), among('name', names)] }
}

test('all objects, in an order that does not depend on the order of the facts', () => {
  const { names, problems } = plan()
  const multihop = 'CiliumBGPPeerConfig eip-admission-multihop'
  assert.equal(names, [
    'Secret eip-admission-bgp',
    multihop,
    'CiliumBGPAdvertisement eip-admission',
    'CiliumBGPNodeConfigOverride node-a',
    'CiliumBGPClusterConfig eip-admission-node-a',
    'CiliumBGPNodeConfigOverride node-b',
    'CiliumBGPClusterConfig eip-admission-node-b',
    `CiliumLoadBalancerIPPool eip-admission-${address}`,
    `CiliumLoadBalancerIPPool eip-admission-${second}`,
  ])
  assert.equal(problems, [])
  const reversed = { addresses: state.addresses.toReversed(), nodes: state.nodes.toReversed() }
  assert.equal(plan(reversed).names, names)
})

test('each address has a pool that serves the Services of that address and no others', () => {
  const { find } = plan()
  assert.equal(find('CiliumLoadBalancerIPPool', `eip-admission-${address}`)?.spec, {
    blocks: [{ cidr: `${address}/32` }],
    serviceSelector: selecting(['default'], ['web']),
  })
  assert.equal(find('CiliumLoadBalancerIPPool', `eip-admission-${second}`)?.spec, {
    blocks: [{ cidr: `${second}/32` }],
    serviceSelector: selecting(['default', 'shop'], ['api', 'web']),
  })
})

test('the advertisement selects exactly these Services, also where two namespaces have the same names', () => {
  const { spec } = plan().find('CiliumBGPAdvertisement', 'eip-admission') as { spec?: { advertisements: object[] } }
  const entry = { advertisementType: 'Service', service: { addresses: ['LoadBalancerIP'] } }
  assert.equal(spec?.advertisements, [
    { ...entry, selector: selecting(['default'], ['api', 'web']) },
    { ...entry, selector: selecting(['shop'], ['web']) },
  ])
})

test('each node has its sessions, from its own address', () => {
  const { find } = plan()
  const peer = (name: string) => ({
    name: name,
    peerAddress: name,
    peerASN: 65530,
    peerConfigRef: { name: 'eip-admission-multihop' },
  })
  const routers = ['169.254.255.1', '169.254.255.2']
  assert.equal(find('CiliumBGPClusterConfig', 'eip-admission-node-b')?.spec, {
    nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'node-b' } },
    bgpInstances: [{ name: 'eip-admission-as65000', localASN: 65000, peers: routers.map(peer) }],
  })
  assert.equal(find('CiliumBGPNodeConfigOverride', 'node-b')?.spec, {
    bgpInstances: [
      { name: 'eip-admission-as65000', peers: routers.map((name) => ({ name, localAddress: '10.0.0.6' })) },
    ],
  })
})

const sessions: { name: string; facts: Parameters<typeof makeNode>[1]; config: string; secret: boolean }[] = [
  { name: 'password and distance', facts: { password: 'x' }, config: 'eip-admission-multihop', secret: true },
  { name: 'no password', facts: {}, config: 'eip-admission-multihop-open', secret: false },
  { name: 'a router on the same link', facts: { isMultihop: false }, config: 'eip-admission-open', secret: false },
  { name: 'both', facts: { isMultihop: false, password: 'x' }, config: 'eip-admission', secret: true },
]
for (const { name, facts, config, secret } of sessions) {
  test(`how sessions are held: ${name}`, () => {
    const { find, names } = plan({ nodes: [makeNode('node-a', facts)] })
    const { spec } = find('CiliumBGPPeerConfig', config) as { spec?: { authSecretRef?: string; ebgpMultihop: number } }
    assert.is(spec?.authSecretRef, secret ? 'eip-admission-bgp' : undefined)
    assert.is(spec?.ebgpMultihop, config.includes('multihop') ? 255 : 1)
    assert.is(names.includes('Secret eip-admission-bgp'), secret)
  })
}

test('AS numbers that differ are instances of their own', () => {
  const [one, other] = makeNode('node-a').peers
  const peers = one && other ? [one, { ...other, localAsn: 65001 }] : []
  const { find } = plan({ nodes: [{ node: 'node-a', hostname: 'node-a', peers }] })
  const { spec } = find('CiliumBGPClusterConfig', 'eip-admission-node-a') as {
    spec?: { bgpInstances: { name: string; localASN: number }[] }
  }
  const named = spec?.bgpInstances.map(({ name, localASN }) => `${name} ${localASN}`)
  assert.equal(named, ['eip-admission-as65000 65000', 'eip-admission-as65001 65001'])
})

/** An object; one with the name of our pool is ours. */
function made(kind: string, name: string, spec: object): KubeObject {
  const labels = name.startsWith('eip-admission-1') ? { 'app.kubernetes.io/managed-by': 'eip-admission' } : {}
  return { apiVersion: 'cilium.io/v2', kind, metadata: { name, labels }, spec } as KubeObject
}

const ourPool = made('CiliumLoadBalancerIPPool', `eip-admission-${address}`, { blocks: [{ cidr: `${address}/32` }] })

const foreignPools: { name: string; block: object; isInWay: boolean }[] = [
  { name: 'a network', block: { cidr: '198.51.100.0/28' }, isInWay: true },
  { name: 'a range', block: { start: '198.51.100.1', stop: address }, isInWay: true },
  { name: 'a single address', block: { start: address }, isInWay: true },
  { name: 'another network', block: { cidr: '198.51.101.0/24' }, isInWay: false },
  { name: 'nonsense, which Cilium accepts', block: { start: 'foo' }, isInWay: false },
  { name: 'an empty block', block: {}, isInWay: false },
]
for (const { name, block, isInWay } of foreignPools) {
  test(`a foreign pool with ${name} ${isInWay ? 'keeps us from a pool of our own' : 'does not matter'}`, () => {
    const lan = made('CiliumLoadBalancerIPPool', 'lan', { blocks: [block] })
    const only = { addresses: [{ address, services: ['default/web'] }] }
    const { names, problems, isHeld } = plan(only, [lan])
    assert.is(names.includes(`CiliumLoadBalancerIPPool ${ourPool.metadata.name}`), !isInWay)
    assert.is(isHeld, isInWay)
    assert.equal(
      problems.map(({ subject }) => subject),
      isInWay ? [{ service: 'default/web' }] : [],
    )
    for (const { message } of problems) assert.match(message, `Remove ${address} from the blocks of lan`)
    const later = plan(only, [lan, ourPool])
    assert.ok(later.names.includes(`CiliumLoadBalancerIPPool ${ourPool.metadata.name}`), 'the older of two stays')
  })
}

test('what is announced of an address that a Service still shows stays as it is; one that nobody shows goes', () => {
  const leaving = [{ address, services: ['default/web'] }]
  const kept = plan({ addresses: [], undecided: leaving }, [ourPool])
  assert.is(kept.find('CiliumLoadBalancerIPPool', ourPool.metadata.name), ourPool)
  assert.ok(kept.names.includes('CiliumBGPClusterConfig eip-admission-node-a'), 'and the sessions stay')
  assert.equal(selectorsOf(kept), [selecting(['default'], ['web'])], 'and so does the route')
  const withdrawn = plan({ addresses: [], leaving }, [ourPool])
  assert.equal(selectorsOf(withdrawn), [], 'while Cilium withdraws it there is none')
  assert.equal(
    withdrawn.names,
    kept.names.filter((name) => !name.startsWith('CiliumBGPAdvertisement')),
  )
  const besideAnother = plan({ addresses: [{ address: second, services: ['shop/api'] }], undecided: leaving }, [
    ourPool,
  ])
  assert.equal(selectorsOf(besideAnother), [selecting(['default'], ['web']), selecting(['shop'], ['api'])])
  assert.equal(plan({ addresses: [], undecided: leaving }).names, [], 'no pool is made for it')
  const empty = plan({ addresses: [] }, [ourPool])
  assert.equal([empty.names, empty.isHeld], [[], false])
})

const wakings: { name: string; foreign: Announcements['foreign']; existing?: KubeObject[]; isHeld: boolean }[] = [
  { name: 'nobody else writes a status', foreign: [], isHeld: false },
  { name: 'a Service without a class', foreign: [{ service: 'lan/dns', loadBalancerClass: undefined }], isHeld: true },
  {
    name: "a Service of Cilium's class",
    foreign: [{ service: 'lan/dns', loadBalancerClass: 'io.cilium/l2-announcer' }],
    isHeld: true,
  },
  {
    name: 'a Service of the class of another program',
    foreign: [{ service: 'lan/dns', loadBalancerClass: 'example.com/lan' }],
    isHeld: false,
  },
  {
    name: 'LB IPAM is awake, since a person has a pool',
    foreign: [{ service: 'lan/dns', loadBalancerClass: undefined }],
    existing: [made('CiliumLoadBalancerIPPool', 'lan', { blocks: [{ cidr: '192.0.2.0/24' }] })],
    isHeld: false,
  },
]
for (const { name, foreign = [], existing = [], isHeld } of wakings) {
  test(`before the first pool wakes LB IPAM: ${name}`, () => {
    const { names, problems, ...planned } = plan({ foreign }, existing)
    assert.is(names.length === 0, isHeld)
    assert.is(planned.isHeld, isHeld, 'what other software announces stays as long')
    const expected = ['default/api', 'default/web', 'shop/web'].map((service) => ({ service }))
    assert.equal(
      problems.map(({ subject }) => subject),
      isHeld ? expected : [],
    )
    for (const { message } of problems) assert.match(message, 'Service lan/dns. Give')
  })
}

test('a person has an override for a node: it is not changed, and the sessions begin when it says what they need', () => {
  const nodes = [makeNode('node-a')]
  const lacking = made('CiliumBGPNodeConfigOverride', 'node-a', { bgpInstances: [{ name: 'fabric' }] })
  const { names, problems, isHeld } = plan({ nodes }, [lacking])
  assert.not(names.some((name) => /Override|ClusterConfig/.test(name)))
  assert.ok(isHeld, 'and until then what other software announces stays')
  assert.equal(
    problems.map(({ subject }) => subject),
    [{ node: 'node-a' }],
  )
  const text = problems[0]?.message ?? ''
  const { bgpInstances } = { bgpInstances: JSON.parse(text.slice(text.indexOf('['))) as object[] }
  const saying = made('CiliumBGPNodeConfigOverride', 'node-a', { bgpInstances: [{ name: 'fabric' }, ...bgpInstances] })
  const after = plan({ nodes }, [saying])
  assert.equal([after.problems, after.isHeld], [[], false])
  assert.ok(after.names.includes('CiliumBGPClusterConfig eip-admission-node-a'))
  assert.not(after.names.includes('CiliumBGPNodeConfigOverride node-a'))
})

test('a foreign object that has the name of ours is not changed', () => {
  const taken = made('CiliumBGPClusterConfig', 'eip-admission-node-a', {})
  const { names, problems } = plan({}, [taken])
  assert.not(names.includes('CiliumBGPClusterConfig eip-admission-node-a'))
  assert.match(problems[0]?.message ?? '', 'delete or rename it')
})

test('a foreign advertisement with the name of our own holds what other software announces', () => {
  assert.is(plan({}, [made('CiliumBGPAdvertisement', 'fabric', {})]).isHeld, false)
  assert.is(plan({}, [made('CiliumBGPAdvertisement', 'eip-admission', {})]).isHeld, true)
})

const rackA = { labels: { rack: 'a', 'kubernetes.io/hostname': 'node-a' } }
const withRouter = { bgpInstances: [{ name: 'fabric', peers: [{ peerAddress: '169.254.255.2' }] }] }
const fabrics: { name: string; spec: object; created?: string; isHeld: boolean }[] = [
  { name: 'every node', spec: {}, isHeld: true },
  { name: 'every node by a selector', spec: { nodeSelector: {} }, isHeld: true },
  { name: 'a label of every node', spec: { nodeSelector: { matchLabels: { rack: 'a' } } }, isHeld: true },
  { name: 'a label of no node', spec: { nodeSelector: { matchLabels: { rack: 'b' } } }, isHeld: false },
  { name: "every node, with one of the provider's routers", spec: withRouter, isHeld: false },
  { name: 'every node, since ours existed', spec: {}, created: '2026-01-03T00:00:00Z', isHeld: false },
  { name: 'every node, since before ours', spec: {}, created: '2026-01-01T00:00:00Z', isHeld: true },
]
for (const { name, spec, created, isHeld } of fabrics) {
  test(`a person's cluster configuration selects ${name}: what other software announces ${isHeld ? 'stays' : 'may go'}`, () => {
    const at = (one: KubeObject, creationTimestamp: string) => ({
      ...one,
      metadata: { ...one.metadata, creationTimestamp },
    })
    const fabric = at(made('CiliumBGPClusterConfig', 'fabric', spec), created ?? '2026-01-02T00:00:00Z')
    const nodes = [{ ...makeNode('node-a'), ...rackA }]
    const ours = plan({ nodes }).find('CiliumBGPClusterConfig', 'eip-admission-node-a')
    const stored = ours && created !== undefined ? [at(ours, '2026-01-02T00:00:00Z')] : []
    assert.is(plan({ nodes }, [fabric, ...stored]).isHeld, isHeld)
  })
}

test('a node that no cluster configuration of a person selects has sessions, which are enough', () => {
  const fabric = made('CiliumBGPClusterConfig', 'fabric', { nodeSelector: { matchLabels: { rack: 'a' } } })
  const nodes = [{ ...makeNode('node-a'), ...rackA }, makeNode('node-b')]
  assert.is(plan({ nodes }, [fabric]).isHeld, false)
})

const refused: { name: string; changes: Partial<Announcements>; subject: object }[] = [
  {
    name: 'an IPv6 address',
    changes: { addresses: [{ address: '2001:db8::7', services: ['default/web'] }] },
    subject: { service: 'default/web' },
  },
  {
    name: 'an IPv6 router',
    changes: { nodes: [makeNode('node-a', { peerAddress: '2001:db8::1' })] },
    subject: { node: 'node-a' },
  },
]
for (const { name, changes, subject } of refused) {
  test(`${name} is a problem that says nothing of MetalLB`, () => {
    const { problems } = plan(changes)
    assert.equal(
      problems.map((one) => one.subject),
      [subject],
    )
    for (const { message } of problems) assert.not.match(message, 'MetalLB')
  })
}

test.run()
