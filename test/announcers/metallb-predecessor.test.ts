// Each predecessor's objects, taken over by us and given back: they are what they were, and what came since looks like them.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements, NodePeers, WantedObject } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import {
  type PredecessorFacts,
  advertisementOfBoth,
  foundObjects,
  poolsToWrite,
  wantedObjects,
} from '../../announcers/metallb/predecessor/objects.ts'
import { isAdvertisement } from '../../announcers/metallb/resources.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { KubeObject, Node, Service } from '../../kube/objects.ts'
import { marks } from './cluster.ts'
import { type Predecessor, objectsOf } from './predecessors.ts'

const routers = ['169.254.255.1', '169.254.255.2']
const region = 'LT-Siauliai'
const password = 'Secret12345abc'

function aNode(name: string): Node {
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/region': region }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} }
}

function aService(name: string, address: string, annotations: Record<string, string> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name, annotations },
    spec: { type: 'LoadBalancer', loadBalancerIP: address },
  }
}

const nodes = [
  { name: 'node-a', address: '10.0.0.5' },
  { name: 'node-b', address: '10.0.0.6' },
]
const services = [aService('api', '198.51.100.8'), aService('web', '198.51.100.7')]

function peersOf(names: { name: string; address: string }[], { isMultihop = false, secret = true } = {}): NodePeers[] {
  return names.map(({ name, address }) => ({
    node: name,
    hostname: name,
    peers: routers.map((peerAddress) => ({
      localAsn: 65000,
      peerAsn: 65530,
      peerAddress,
      sourceAddress: address,
      isMultihop,
      password: secret ? { reveal: () => password } : undefined,
    })),
  }))
}

/** The change of a write: a merge patch, where null removes. */
function written(existing: readonly KubeObject[], wanted: readonly WantedObject[]): KubeObject[] {
  const places = new Map(existing.map((object) => [`${object.kind} ${object.metadata.name}`, object]))
  return wanted.map(({ object }) => {
    const stored = places.get(`${object.kind} ${object.metadata.name}`)
    return (stored ? merged(stored, object) : merged({}, object)) as KubeObject
  })
}

function merged(stored: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const base = typeof stored === 'object' && stored !== null && !Array.isArray(stored) ? stored : {}
  const result: Record<string, unknown> = { ...base }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merged(result[name], value)
  }
  return result
}

type World = { of: Predecessor; id: string; isMultihop: boolean; secret: boolean; frr: boolean }

const worlds: World[] = [
  { of: 'CPEM 3.7', id: 'equinix-metal', isMultihop: true, secret: true, frr: false },
  { of: 'CPEM 3.8', id: 'equinix-metal', isMultihop: true, secret: true, frr: false },
  { of: 'Cherry 1.35.2', id: 'cherry-servers', isMultihop: true, secret: false, frr: false },
  { of: 'Cherry main', id: 'cherry-servers', isMultihop: true, secret: false, frr: false },
  { of: 'Cherry main for FRR', id: 'cherry-servers', isMultihop: true, secret: false, frr: true },
]

function setUp({ of, id, secret, frr, isMultihop }: World) {
  const theirs = objectsOf(of, {
    nodes,
    routers,
    localAsn: 65000,
    peerAsn: 65530,
    ...(secret && { password }),
    services: services.map(({ metadata, spec }) => ({ name: metadata.name, address: spec.loadBalancerIP ?? '' })),
    region,
  }).map((object) => (object.kind === 'BGPPeer' ? { ...object, apiVersion: 'metallb.io/v1beta2' } : object))
  const announcerMarks = dialects.find(({ name }) => name === id)?.names.announcerMarks
  assert.ok(announcerMarks)
  const found = foundObjects(theirs, announcerMarks)?.objects ?? []
  const ours = metallbObjects({ ...marks, passwordSecret: 'eip-admission-bgp', peerMode: frr ? 'frr' : 'native' })
  const takenOver = (existing: KubeObject[], all: Service[], names = nodes) => {
    const state: Announcements = {
      addresses: all.map(({ metadata, spec }) => ({
        address: spec.loadBalancerIP ?? '',
        services: [`default/${metadata.name}`],
      })),
      nodes: peersOf(names, { isMultihop, secret }),
    }
    return written(existing, ours.objects(state, existing).wanted)
  }
  const facts: PredecessorFacts = {
    marks: { ...announcerMarks, namespace: marks.namespace, passwordSecret: 'eip-admission-bgp' },
    found,
    services,
    nodes: nodes.map(({ name }) => aNode(name)),
    password: secret ? password : undefined,
  }
  return { theirs, found, takenOver, facts }
}

const byName = (objects: readonly KubeObject[]) =>
  Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata.name}`, plain(object)]))

function plain({ metadata, ...more }: KubeObject & { spec?: unknown }): unknown {
  return { labels: metadata.labels, spec: more.spec }
}

for (const world of worlds) {
  test(`${world.of}: what was taken over is given back as it was found`, () => {
    const { theirs, takenOver, facts } = setUp(world)
    const ours = takenOver(theirs, services)
    const back = written(ours, wantedObjects(ours, facts))
    assert.equal(byName(back), byName(theirs))
    // Once more changes nothing.
    assert.equal(byName(written(back, wantedObjects(back, facts))), byName(theirs))
  })

  test(`${world.of}: what nobody took over stays as it is`, () => {
    const { theirs, facts } = setUp(world)
    assert.equal(byName(written(theirs, wantedObjects(theirs, facts))), byName(theirs))
  })

  test(`${world.of}: a Service and a node that came since look like the predecessor's`, () => {
    const { theirs, takenOver, facts } = setUp(world)
    const late = aService('late', '198.51.100.9')
    const all = [...nodes, { name: 'node-c', address: '10.0.0.7' }]
    const ours = takenOver(theirs, [...services, late], all)
    const since = { ...facts, services: [...services, late], nodes: all.map(({ name }) => aNode(name)) }
    const back = written(ours, wantedObjects(ours, since))
    const wanted = objectsOf(world.of, {
      nodes: all,
      routers,
      localAsn: 65000,
      peerAsn: 65530,
      ...(world.secret && { password }),
      services: [
        ...services.map(({ metadata, spec }) => ({ name: metadata.name, address: spec.loadBalancerIP ?? '' })),
        { name: 'late', address: '198.51.100.9' },
      ],
      region,
    })
    const seen = byName(back) as Record<string, { labels: object; spec: Record<string, unknown> }>
    assert.equal(Object.keys(seen).toSorted(), Object.keys(byName(wanted)).toSorted())
    for (const [name, { labels, spec }] of Object.entries(byName(wanted)) as [string, (typeof seen)[string]][]) {
      assert.equal(seen[name]?.labels, labels, name)
      assert.equal(counted(seen[name]?.spec), counted(spec), name)
    }
  })
}

/** Counting selectors in any order. A source beside what an old program left out changes no session. */
function counted(spec: Record<string, unknown> = {}): object {
  const { nodeSelectors, sourceAddress: _source, ebgpMultiHop: _hops, ...others } = spec
  if (!Array.isArray(nodeSelectors)) return others
  return { ...others, nodeSelectors: nodeSelectors.map((one) => JSON.stringify(sorted(one))).toSorted() }
}

function sorted(selector: { matchLabels?: object }): object {
  const labels = Object.entries(selector.matchLabels ?? {}).map((entry) => entry.join('='))
  return labels.toSorted()
}

test('a Service that no longer exists is counted no more, and the advertisement keeps the order of its names', () => {
  const { theirs, takenOver, facts } = setUp(worlds[1] as World)
  const [, web] = services
  if (!web) throw new Error('no Service')
  const ours = takenOver(theirs, [web])
  const back = byName(written(ours, wantedObjects(ours, { ...facts, services: [web] })))
  assert.not('IPAddressPool default.api' in back)
  assert.not(JSON.stringify(back).includes('"api"'))
})

test('Services that share an address have one pool, which counts them as program 3.8 does', () => {
  const { theirs, takenOver, facts } = setUp(worlds[1] as World)
  const key = { 'metallb.universe.tf/allow-shared-ip': 'dns' }
  const both = [aService('udp', '198.51.100.9', key), aService('tcp', '198.51.100.9', key)]
  const ours = takenOver(theirs, [...services, ...both])
  const all = poolsToWrite(ours, { ...facts, services: [...services, ...both] })
  assert.ok(all.every(({ isThere }) => isThere))
  const back = byName(written(ours, wantedObjects(ours, { ...facts, services: [...services, ...both] })))
  const pool = back['IPAddressPool default.tcp'] as { labels: object; annotations: object }
  assert.equal(pool.labels, {
    'cloud-provider': 'equinix-metal',
    'service-tcp': 'namespace-default',
    'service-udp': 'namespace-default',
  })
  const shared = all.find((one) => one.pool.metadata.name === 'default.tcp')?.pool.metadata.annotations
  assert.equal(shared, { 'shared-dns': 'default.tcp,default.udp' })
})

test('an address without any pool gets one: an earlier undo was killed between removing and writing it', () => {
  const { theirs, facts } = setUp(worlds[1] as World)
  const lost = theirs.filter(({ metadata }) => metadata.name !== 'default.web')
  const made = poolsToWrite(lost, facts).filter(({ isThere }) => !isThere)
  assert.equal(
    made.map(({ pool, replaces }) => [pool.metadata.name, replaces, pool.spec.addresses]),
    [['default.web', undefined, ['198.51.100.7/32']]],
  )
})

/** The names in the advertisement after the way back, when only these pools exist. */
function advertisedAfter(names: string[], pools: string[]): unknown[] {
  const { theirs, facts } = setUp(worlds[1] as World)
  const [pool] = theirs.filter(({ kind }) => kind === 'IPAddressPool')
  const existing = [
    ...theirs
      .filter(({ kind }) => kind === 'BGPAdvertisement')
      .map((one) => ({ ...one, spec: { ipAddressPools: names } })),
    ...pools.map((name) => ({ ...pool, metadata: { ...pool?.metadata, name } }) as KubeObject),
  ]
  const wanted = wantedObjects(existing, { ...facts, found: [], services: [] })
  return wanted
    .map(({ object }) => object)
    .filter(isAdvertisement)
    .flatMap(({ spec }) => spec?.ipAddressPools ?? [])
}

test('the advertisement forgets our pool that got another name, and never forgets all', () => {
  const names = ['default.api', '198.51.100.9', 'default.late']
  assert.equal(advertisedAfter(names, ['default.api', 'default.late']), ['default.api', 'default.late'])
  assert.equal(advertisedAfter(['198.51.100.9'], []), ['198.51.100.9'])
})

test('an advertisement that names every pool is not written again, and one that lacks a pool gets its name', () => {
  const { theirs, facts } = setUp(worlds[1] as World)
  assert.is(advertisementOfBoth(theirs, poolsToWrite(theirs, facts), facts), undefined)
  const named = (names: string[]) =>
    theirs
      .filter(({ metadata }) => metadata.name !== 'default.web')
      .map((one) => (isAdvertisement(one) ? { ...one, spec: { ipAddressPools: names } } : one))
  const lacking = named(['default.api'])
  const both = advertisementOfBoth(lacking, poolsToWrite(lacking, facts), facts)
  assert.equal(both?.spec?.ipAddressPools, ['default.api', 'default.web'])
})

test('what was found holds no password', () => {
  for (const world of worlds) assert.not(JSON.stringify(setUp(world).found).includes(password))
})

test.run()
