import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { makeNode } from './states.ts'

const configuration = calicoObjects({ namespace: 'calico-system' })
const [address, second] = ['198.51.100.7', '198.51.100.8']
const entries = 'eip-admission.dev/announced-addresses'

const state: Announcements = {
  addresses: [
    { address: second, services: ['shop/web'] },
    { address, services: ['default/web'] },
  ],
  nodes: [makeNode('node-a', { password: 's3cret' })],
}

type Specified = KubeObject & { spec?: Record<string, unknown> }

function plan(changes: Partial<Announcements> = {}, existing: KubeObject[] = []) {
  const { wanted, problems, isHeld = false } = configuration.objects({ ...state, ...changes }, existing)
  const objects = wanted.map(({ object }) => object as Specified)
  const find = (kind: string) => objects.find((one) => one.kind === kind)
  const texts = problems.map(({ subject, message }) => `${Object.values(subject).join('')}: ${message}`)
  return { find, texts, isHeld, names: objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`) }
}

/** An object; with a name that begins as ours do it is ours. */
function made(kind: string, name: string, spec: object): Specified {
  const labels = name.startsWith('eip-admission') ? { 'app.kubernetes.io/managed-by': 'eip-admission' } : {}
  return { apiVersion: 'projectcalico.org/v3', kind, metadata: { name, labels }, spec } as Specified
}

const listOf = (...cidrs: string[]) => ({ serviceLoadBalancerIPs: cidrs.map((cidr) => ({ cidr })) })
function ours(spec: object, ...own: string[]): Specified {
  const object = made('BGPConfiguration', 'default', spec)
  return { ...object, metadata: { ...object.metadata, annotations: { [entries]: own.join() } } }
}

test('all objects in the order in which they are written', () => {
  const { names, texts } = plan()
  assert.equal(names, [
    'Secret eip-admission-bgp',
    'BGPFilter eip-admission',
    'BGPPeer eip-admission-node-a-169.254.255.1',
    'BGPPeer eip-admission-node-a-169.254.255.2',
    'BGPConfiguration default',
  ])
  assert.equal(texts, [])
})

test('our entry stays while the ledger has not decided whose the address is', () => {
  const list = ours(listOf(`${address}/32`), `${address}/32`)
  const undecided = [address, second].map((one) => ({ address: one, services: ['default/web'] }))
  const { find } = plan({ addresses: [], undecided }, [list])
  assert.equal(find('BGPConfiguration')?.spec, listOf(`${address}/32`))
  assert.match(JSON.stringify(find('BGPFilter')?.spec), `${address}/32`)
  assert.not.match(JSON.stringify(find('BGPFilter')?.spec), `${second}/32`)
})

test('what is new is created: Calico answers an apply that it refuses with an error of the server', () => {
  const applied = configuration.kinds.filter((kind) => !kind.isPruned && !kind.isShared && kind.only === undefined)
  assert.equal(
    applied.map(({ resource }) => resource.kind),
    ['IPPool'],
    'which we only read',
  )
})

test('the filter rejects what other nodes announce, then accepts our addresses alone, and imports nothing', () => {
  assert.equal(plan().find('BGPFilter')?.spec, {
    importV4: [{ action: 'Reject' }],
    exportV4: [
      { action: 'Reject', source: 'RemotePeers' },
      { action: 'Accept', matchOperator: 'Equal', cidr: `${address}/32` },
      { action: 'Accept', matchOperator: 'Equal', cidr: `${second}/32` },
      { action: 'Reject' },
    ],
  })
})

test('a peer speaks with its router by its own AS number, with the password of the Secret', () => {
  assert.equal(plan().find('BGPPeer')?.spec, {
    node: 'node-a',
    peerIP: '169.254.255.1',
    asNumber: 65530,
    localASNumber: 65000,
    sourceAddress: 'UseNodeIP',
    filters: ['eip-admission'],
    password: { secretKeyRef: { name: 'eip-admission-bgp', key: 'password' } },
  })
})

const own = `${address}/32`
const one = { addresses: [{ address, services: ['default/web'] }] }
const lists: {
  name: string
  existing: KubeObject[]
  changes?: Partial<Announcements>
  list?: string[]
  own?: string
}[] = [
  { name: 'nobody has a list', existing: [], list: [own], own },
  {
    name: 'a person has one',
    existing: [made('BGPConfiguration', 'default', listOf('10.0.0.1/32'))],
    list: ['10.0.0.1/32', own],
    own,
  },
  {
    // Calico announces the address beside the network, and our filter keeps the network from the cloud.
    name: 'a person has a network in it that holds our address',
    existing: [made('BGPConfiguration', 'default', listOf('198.51.100.0/24'))],
    list: ['198.51.100.0/24', own],
    own,
  },
  {
    name: 'a person has our address in it',
    existing: [made('BGPConfiguration', 'default', listOf(own))],
  },
  {
    name: 'our address went',
    existing: [ours(listOf('10.0.0.1/32', own, `${second}/32`), own, `${second}/32`)],
    list: ['10.0.0.1/32', own],
    own,
  },
  {
    name: 'the last address of ours went',
    existing: [ours(listOf('10.0.0.1/32', own), own)],
    changes: { addresses: [] },
    list: ['10.0.0.1/32'],
  },
  { name: 'we wrote nothing', existing: [ours(listOf('10.0.0.1/32'))], changes: { addresses: [] } },
]
for (const { name, existing, changes = one, list, own: listed } of lists) {
  test(`the list of addresses: ${name}`, () => {
    const { find, texts } = plan(changes, existing)
    assert.equal(texts, [])
    const { spec, metadata } = find('BGPConfiguration') ?? {}
    assert.equal(spec, list && listOf(...list))
    assert.is(metadata?.annotations?.[entries] ?? undefined, listed)
  })
}

test('a list that we created goes with our last address, and one with anything of a person stays', () => {
  const created = ours(listOf(own), own)
  created.metadata.labels = { 'app.kubernetes.io/managed-by': 'eip-admission' }
  assert.equal(plan({ addresses: [] }, [created]).names, [])
  assert.ok(configuration.isOurs(created))
  for (const spec of [listOf(own, '10.0.0.1/32'), { ...listOf(own), asNumber: 64512 }])
    assert.not(configuration.isOurs({ ...created, spec } as KubeObject))
})

const hindrances: { name: string; existing?: KubeObject[]; changes?: Partial<Announcements>; text: RegExp }[] = [
  {
    name: 'a peer of a person for the node',
    existing: [made('BGPPeer', 'tor', { node: 'node-a', peerIP: '169.254.255.1', asNumber: 1 })],
    text: /^node-a: .*BGPPeer tor, .* delete it$/,
  },
  {
    name: 'a peer of a person for all nodes',
    existing: [made('BGPPeer', 'tor', { peerIP: '169.254.255.1:179', asNumber: 1 })],
    text: /^node-a: .*BGPPeer tor/,
  },
  {
    name: 'an AS number of 32 bits',
    changes: { nodes: [makeNode('node-a', { localAsn: 4_200_000_000 })] },
    text: /^node-a: .*AS number 4200000000 is larger than 2147483647/,
  },
  {
    name: 'a password with a quotation mark',
    changes: { nodes: [makeNode('node-a', { password: 'a"b' })] },
    text: /^node-a: .*quotation mark/,
  },
  {
    name: 'a Calico that drops the AS number of a node',
    existing: [made('BGPPeer', 'eip-admission-node-a-169.254.255.1', { node: 'node-a', peerIP: '169.254.255.1' })],
    text: /^node-a: .*upgrade it to 3.31/,
  },
  {
    name: 'a node that speaks from another address',
    changes: { nodes: [{ ...makeNode('node-a'), annotations: { 'projectcalico.org/IPv4Address': '192.0.2.1/24' } }] },
    text: /^node-a: router 169.254.255.1 expects .* ip route replace 169.254.255.1 via GATEWAY src 10.0.0.5$/,
  },
]
for (const { name, existing, changes, text } of hindrances) {
  test(`${name} is said with what to do`, () => {
    const { texts } = plan(changes, existing)
    assert.ok(
      texts.some((each) => text.test(each)),
      texts.join('\n'),
    )
  })
}

test('a peer that lacks its AS number is written again, whatever wrote it', () => {
  const stored = made('BGPPeer', 'eip-admission-node-a-169.254.255.1', { node: 'node-a', peerIP: '169.254.255.1' })
  assert.is(plan({}, [stored]).find('BGPPeer')?.spec?.['localASNumber'], 65000)
})

test('only our peer says for which node it is', () => {
  const peers = ['eip-admission-node-b-1', 'tor'].map((name) => made('BGPPeer', name, { node: 'node-b' }))
  const nodes = [...peers, made('BGPFilter', 'eip-admission', {})].map((one) => configuration.lingering?.nodeOf(one))
  assert.equal(nodes, ['node-b', undefined, undefined])
})

test('a foreign object that has the name of ours is not changed', () => {
  const taken = { ...made('BGPFilter', 'eip-admission', {}), metadata: { name: 'eip-admission' } }
  const { names, texts, isHeld } = plan({}, [taken])
  assert.equal([names, isHeld], [[], true], 'no peer uses it, and what other software announces stays')
  assert.match(texts.join(), 'BGPFilter eip-admission exists and eip-admission does not manage it')
})

test('where no node can have a session, what other software announces stays', () => {
  const foreign = ['169.254.255.1', '169.254.255.2'].map((peerIP, n) => made('BGPPeer', `tor-${n}`, { peerIP }))
  assert.equal(
    [foreign, foreign.slice(1), []].map((existing) => plan({}, existing).isHeld),
    [true, false, false],
  )
  assert.not(plan({ nodes: [] }, foreign).isHeld, 'no cloud has a router for us')
})

test('a session whose router no longer has a password loses that of its stored peer, once', () => {
  const open = { nodes: [makeNode('node-a')] }
  const peerOf = (existing: Specified[], changes?: Partial<Announcements>) => plan(changes, existing).find('BGPPeer')
  const before = peerOf([])
  assert.is(peerOf(before ? [before] : [], open)?.spec?.['password'], null)
  assert.not('password' in (peerOf([], open)?.spec ?? { password: '' }))
})

test('while a session is kept its password is', () => {
  const password = { secretKeyRef: { name: 'eip-admission-bgp', key: 'password' } }
  const specOf = (peerIP: string) => ({ node: 'node-a', peerIP, localASNumber: 65000, password })
  const routers = ['169.254.255.1', '169.254.255.2']
  const stored = routers.map((router) => made('BGPPeer', `eip-admission-node-a-${router}`, specOf(router)))
  const secret = { ...made('Secret', 'eip-admission-bgp', {}), apiVersion: 'v1' }
  const foreign = routers.map((peerIP, n) => made('BGPPeer', `tor-${n}`, { peerIP }))
  const { names } = plan({}, [...stored, secret, ...foreign])
  assert.equal(
    names.filter((name) => !/Filter|Configuration/.test(name)),
    ['Secret eip-admission-bgp', ...stored.map(({ metadata }) => `BGPPeer ${metadata.name}`)],
  )
})

test("peers of a person for another node or another router are in nobody's way", () => {
  const others = [
    made('BGPPeer', 'other', { node: 'node-b', peerIP: '169.254.255.1' }),
    made('BGPPeer', 'fabric', { peerIP: '10.0.0.1' }),
  ]
  assert.equal(plan({}, others).texts, [])
})

const lanPool = made('IPPool', 'lb', { cidr: '192.0.2.0/24', allowedUses: ['LoadBalancer'] })
/** How kube-controllers are set, and what they say of themselves. */
const controllers = (spec: object, running: object = { loadBalancer: {} }) =>
  ({
    ...made('KubeControllersConfiguration', 'default', { controllers: spec }),
    status: { runningConfig: { controllers: running } },
  }) as Specified
const classOf = (loadBalancerClass: string) =>
  new Map(['default/web', 'shop/web'].map((key) => [key, { loadBalancerClass }]))

const writers: { name: string; existing: KubeObject[]; changes?: Partial<Announcements>; writes: boolean }[] = [
  { name: 'nobody has said how its controllers are set', existing: [], writes: true },
  {
    // From 3.33 on spec.loadBalancerIP, which we write, is such a request.
    name: 'it serves only what requests an address',
    existing: [controllers({ loadBalancer: { assignIPs: 'RequestedServicesOnly' } })],
    writes: true,
  },
  { name: 'an environment variable starts its controller', existing: [controllers({})], writes: true },
  { name: 'its controller for load balancers does not run', existing: [controllers({}, { node: {} })], writes: false },
  { name: 'our Services have its class', existing: [], changes: { facts: classOf('calico') }, writes: true },
  { name: 'our Services have another class', existing: [], changes: { facts: classOf('a.test/b') }, writes: false },
]
for (const { name, existing, changes = {}, writes } of writers) {
  test(`with a pool for load balancers Calico ${writes ? 'writes' : 'does not write'} our statuses: ${name}`, () => {
    const { names, texts, isHeld } = plan(changes, [lanPool, ...existing])
    assert.equal([names.length > 0, isHeld], [!writes, writes])
    assert.is(texts.length, writes ? 2 : 0)
    for (const text of texts)
      assert.match(
        text,
        /IPPool lb is for load balancers.* Delete lb, or create the Service again with a loadBalancerClass/,
      )
  })
}

test('while Calico itself writes the status of Services nothing new is announced, and what has a way keeps it', () => {
  const peer = made('BGPPeer', 'eip-admission-old', { node: 'node-z', peerIP: '169.254.255.1' })
  const { names, isHeld } = plan({}, [lanPool, peer])
  assert.equal([names, isHeld], [['BGPPeer eip-admission-old'], true])
  const before = ours(listOf(`${address}/32`, '203.0.113.9/32'), `${address}/32`, '203.0.113.9/32')
  const list = plan({}, [lanPool, before]).find('BGPConfiguration')
  assert.equal(list?.spec, listOf(`${address}/32`), 'what nobody shows leaves the list, and nothing new enters it')
  assert.not(plan({ addresses: [] }, [lanPool]).isHeld, 'nothing would lose its way')
})

const oneOfAnotherClass = { facts: new Map([['shop/web', { loadBalancerClass: 'a.test/b' }]]) }

test('while one Service is disputed what other software announces stays, and the others hear why', () => {
  const { names, texts, isHeld } = plan(oneOfAnotherClass, [lanPool])
  assert.equal([names, isHeld], [[], true], 'the address of the disputed one has its way by that software')
  assert.match(texts.join('\n'), /^default\/web: .*the status of this Service too/m)
  assert.match(
    texts.join('\n'),
    /^shop\/web: .*the status of Service default\/web too.* Delete lb, or create that Service/m,
  )
})

test('once Calico announces for us a Service that it does not serve is announced beside one that it serves', () => {
  const peer = made('BGPPeer', 'eip-admission-old', { node: 'node-z', peerIP: '169.254.255.1' })
  const { find, texts, isHeld } = plan(oneOfAnotherClass, [lanPool, peer])
  assert.equal([find('BGPConfiguration')?.spec, isHeld], [listOf(`${second}/32`), false])
  assert.not.match(JSON.stringify(find('BGPFilter')?.spec), `${address}/32`)
  assert.match(texts.join(), /^default\/web: .*IPPool lb/)
  assert.not.match(texts.join(), 'shop/web')
  const before = ours(listOf(`${address}/32`), `${address}/32`)
  const listed = plan(oneOfAnotherClass, [lanPool, before])
  assert.equal([listed.find('BGPConfiguration')?.spec, listed.isHeld], [listOf(`${address}/32`, `${second}/32`), false])
})

test.run()
