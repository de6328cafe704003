// The objects that a takeover from each predecessor writes: names stay, and sessions change only where a field must.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcements } from '../../announcers/announcer.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import type { PeerMode } from '../../announcers/setting.ts'
import type { BGPPeer } from '../../announcers/metallb/resources.ts'
import { type ObjectChange, type ChangePlan, planChanges } from '../../controllers/announcing/plan-changes.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { missingFrom } from '../../lib/json.ts'
import { aPool, marks } from './cluster.ts'
import { type Predecessor, objectsOf } from './predecessors.ts'
import { makeNode, makePeer } from './states.ts'

const routers = ['169.254.255.1', '169.254.255.2']
const services = [
  { name: 'web', address: '198.51.100.7' },
  { name: 'api', address: '198.51.100.8' },
]
const password = 's3cret'

function nodesOf(count: number) {
  return Array.from({ length: count }, (_, n) => ({ name: `node-${n}`, address: `10.0.${n >> 8}.${n & 255}` }))
}

function stateOf(nodes: ReturnType<typeof nodesOf>, withPassword: boolean): Announcements {
  return {
    addresses: services.map(({ name, address }) => ({ address, services: [`default/${name}`] })),
    nodes: nodes.map(({ name, address }) =>
      makeNode(name, { sourceAddress: address, ...(withPassword && { password }) }),
    ),
  }
}

type Stored = KubeObject & { spec?: object }

/** An object as the API server shows it that was written as v1beta1. */
function stored(object: KubeObject): Stored {
  return object.kind === 'BGPPeer' ? { ...object, apiVersion: 'metallb.io/v1beta2' } : object
}

type Given = { count?: number; peerMode?: PeerMode; withPassword?: boolean }

function takeover(predecessor: Predecessor, { count = 3, peerMode = 'native', withPassword = false }: Given = {}) {
  const nodes = nodesOf(count)
  const facts = { nodes, routers, localAsn: 65000, peerAsn: 65530, services }
  const existing = objectsOf(predecessor, { ...facts, ...(withPassword && { password }) }).map(stored)
  const configuration = metallbObjects({ ...marks, peerMode })
  const state = stateOf(nodes, withPassword)
  const plan = (now: Stored[], other: Announcements = state) =>
    firstOf(planChanges(configuration, now, configuration.objects(other, now).wanted))
  return { existing, state, configuration, plan }
}

/** The part of a plan that the next pass carries out. */
function firstOf({ first, waves: [wave = [], ...later], last, isHolding }: ChangePlan) {
  return { first, wave, last, isUnfinished: isHolding || later.length > 0 }
}

function carryOut(now: Stored[], changes: ObjectChange[]): Stored[] {
  return changes.reduce((seen, change) => {
    if ('remove' in change) return seen.filter((one) => one !== change.remove)
    const { object } = change.write
    const before: Stored | undefined = change.stored
    const merged = { ...before, ...object, spec: withoutNull({ ...before?.spec, ...(object as Stored).spec }) }
    return [...seen.filter((one) => one !== before), merged]
  }, now)
}

function withoutNull(spec: object): object {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null))
}

/** A write as text: which fields of the spec it changes in which object. */
function textOf(change: ObjectChange): string {
  if ('remove' in change) return `remove ${change.remove.metadata.name}`
  const { write, stored: before } = change
  if (!before) return `create ${write.object.metadata.name}`
  const { spec = {} } = missingFrom(before, write.object) as { spec?: object }
  return `patch ${[write.object.metadata.name, ...Object.keys(spec).toSorted()].join(' ')}`
}

const fieldsOf: { predecessor: Predecessor; withPassword?: boolean; changed: string[] }[] = [
  { predecessor: 'CPEM 3.7', changed: ['ebgpMultiHop', 'holdTime', 'keepaliveTime'] },
  { predecessor: 'CPEM 3.8', withPassword: true, changed: ['ebgpMultiHop', 'holdTime', 'keepaliveTime'] },
  { predecessor: 'Cherry 1.35.2', changed: ['ebgpMultiHop', 'holdTime', 'keepaliveTime', 'sourceAddress'] },
  { predecessor: 'Cherry main', changed: [] },
]
for (const { predecessor, withPassword = false, changed } of fieldsOf) {
  test(`objects of ${predecessor} keep their names, and only ${changed.join(', ') || 'their labels'} change`, () => {
    const { existing, plan } = takeover(predecessor, { withPassword })
    const { first, wave } = plan(existing)
    const labelled = existing.filter(({ kind }) => kind !== 'BGPPeer' || changed.length === 0)
    assert.equal(
      first.flat().map(textOf).toSorted(),
      labelled.map(({ metadata }) => `patch ${metadata.name}`).toSorted(),
      'labels alone interrupt nothing',
    )
    const [one, ...others] = wave.flat().map(textOf)
    assert.equal(one, changed.length > 0 ? `patch node-0-0 ${changed.join(' ')}` : undefined)
    assert.equal(others, changed.length > 0 ? [`patch node-1-1 ${changed.join(' ')}`] : [])
  })
}

test("a wave touches no node twice and an eighth of a router's nodes, and every peer changes once, at 80 nodes too", () => {
  const { existing, plan } = takeover('CPEM 3.8', { count: 80, withPassword: true })
  let now = existing
  const written = new Map<string, number>()
  let waves = 0
  for (;;) {
    const { first, wave, last, isUnfinished } = plan(now)
    const all = [...first.flat(), ...wave.flat(), ...(isUnfinished ? [] : last)]
    if (all.length === 0) break
    waves += 1
    assert.ok(waves <= 12, `${waves} waves`)
    const names = wave.flat().map((change) => ('write' in change ? change.write.object.metadata.name : 'removed'))
    assert.is(new Set(names.map((name) => name.replace(/-\d$/, ''))).size, names.length, 'nodes')
    for (const router of ['0', '1']) assert.ok(names.filter((name) => name.endsWith(router)).length <= 10, 'routers')
    for (const change of all) {
      const name = textOf(change).split(' ')[1] ?? ''
      written.set(name, (written.get(name) ?? 0) + 1)
    }
    now = carryOut(now, all)
  }
  assert.is(written.size, 160 + 3)
  assert.ok([...written.values()].every((times) => times === 1))
  assert.equal(
    now.map(({ metadata }) => metadata.name).toSorted(),
    existing.map(({ metadata }) => metadata.name).toSorted(),
  )
})

test("a predecessor's password stays while it is the right one; a new one replaces it by a reference", () => {
  const { existing, plan, configuration, state } = takeover('CPEM 3.8', { withPassword: true })
  assert.not(
    plan(existing)
      .first.flat()
      .some((change) => textOf(change).includes('bgp-password')),
  )
  const nodes = state.nodes.map((node) => ({
    ...node,
    peers: node.peers.map((peer) => ({ ...peer, password: { reveal: () => 'another' } })),
  }))
  const { wanted } = configuration.objects({ ...state, nodes }, existing)
  const peer = wanted.map(({ object }) => object).find(({ metadata }) => metadata.name === 'node-0-0') as BGPPeer
  assert.equal([peer.spec.password, peer.spec.passwordSecret], [null, { name: 'bgp-password' }])
  assert.ok(wanted.some(({ object }) => object.kind === 'Secret'))
})

test('the peers of a region become ours one router after the other, under their names', () => {
  const { existing, plan } = takeover('Cherry main for FRR', { peerMode: 'frr' })
  const { first, wave, isUnfinished } = plan(existing)
  assert.not(first.flat().some((change) => textOf(change).includes('siauliai')))
  assert.equal(wave.flat().map(textOf), ['patch lt-siauliai-0 nodeSelectors'])
  assert.is(isUnfinished, true)
})

const modes: { from: Predecessor; peerMode: PeerMode; waves: string[][] }[] = [
  {
    from: 'Cherry main for FRR',
    peerMode: 'native',
    waves: routers.map((router, n) => [
      `remove lt-siauliai-${n}`,
      ...['node-0', 'node-1', 'node-2'].map((node) => `create ${node}.${router}`),
    ]),
  },
  {
    from: 'Cherry main',
    peerMode: 'frr',
    waves: routers.map((_, n) => [
      `remove node-1-${n}`,
      `remove node-2-${n}`,
      `patch node-0-${n} ebgpMultiHop nodeSelectors sourceAddress`,
    ]),
  },
]
for (const { from, peerMode, waves } of modes) {
  test(`from ${from} to bgp-peer-mode=${peerMode}, sessions with one router change before those with the other`, () => {
    const { existing, plan } = takeover(from, { peerMode })
    let now = existing
    const seen: string[][] = []
    for (let n = 0; n < 5; n += 1) {
      const { first, wave } = plan(now)
      if (wave.length > 0) seen.push(wave.flat().map(textOf))
      now = carryOut(now, [...first.flat(), ...wave.flat()])
    }
    assert.equal(seen, waves)
  })
}

test('with bgp-peer-mode=none every peer of a predecessor goes at once', () => {
  const { existing, plan } = takeover('Cherry main', { peerMode: 'none' })
  const { first, wave } = plan(existing)
  assert.is(first.flat().filter((change) => 'remove' in change).length, 6)
  assert.equal(wave, [])
})

test('a node gets its new router before it loses the old one, whose session goes when the new one is there', () => {
  const { existing, state, plan } = takeover('Cherry main')
  const nodes = state.nodes.map(({ peers, ...node }) => ({
    ...node,
    peers: peers.map((peer) => ({ ...peer, peerAddress: peer.peerAddress.replace('169.254.255', '169.254.254') })),
  }))
  const moved = { ...state, nodes }
  const { first, wave, isUnfinished } = plan(existing, moved)
  assert.equal([wave, isUnfinished], [[], true])
  const created = first.flat().filter((change) => textOf(change).startsWith('create'))
  assert.is(created.length, 6)
  const then = plan(carryOut(existing, first.flat()), moved)
  assert.equal(then.wave.flat().map(textOf), ['remove node-0-0', 'remove node-1-1'])
})

test('the sessions of a node that no longer exists end at once', () => {
  const { existing, state, configuration } = takeover('Cherry main')
  const { wanted } = configuration.objects({ ...state, nodes: state.nodes.slice(1) }, existing)
  const { first } = planChanges(configuration, existing, wanted)
  assert.equal(
    first
      .flat()
      .map(textOf)
      .filter((text) => text.startsWith('remove')),
    ['remove node-0-0', 'remove node-0-1'],
  )
})

test('of two peers for one session the one with our name stays', () => {
  const { existing, configuration, state, plan } = takeover('Cherry main', { count: 1 })
  const { wanted } = configuration.objects(state, [])
  const doubled = [...existing, ...wanted.map(({ object }) => object).filter(({ kind }) => kind === 'BGPPeer')]
  const { wave } = plan(doubled)
  assert.equal(wave.flat().map(textOf), ['remove node-0-0'])
})

test("an address whose Service has no record yet stays in the predecessor's pool, which stays named", () => {
  const { existing, state, configuration } = takeover('CPEM 3.8')
  const [web, api] = state.addresses
  const partly: Announcements = { ...state, addresses: web ? [web] : [], undecided: api ? [api] : [] }
  const { wanted } = configuration.objects(partly, existing)
  const { first } = planChanges(configuration, existing, wanted)
  assert.equal(
    first.flat().map(textOf),
    ['patch equinix-metal-bgp-adv', 'patch default.web'],
    'default.api is as it was',
  )
  const none = configuration.objects({ ...state, addresses: [], undecided: state.addresses }, existing)
  assert.equal(
    planChanges(configuration, existing, none.wanted)
      .first.flat()
      .filter((one) => 'remove' in one),
    [],
  )
  const decided = configuration.objects({ ...state, addresses: [], undecided: [] }, existing)
  assert.is(planChanges(configuration, existing, decided.wanted).first.flat().length, existing.length)
})

test('our pool stays while its Service has no record, or one that looks for the address', () => {
  const { existing, state, configuration } = takeover('CPEM 3.8')
  const written = configuration.objects(state, existing).wanted.map(({ object }) => object)
  const undecided = configuration.objects({ ...state, addresses: [], undecided: state.addresses }, written)
  assert.equal(planChanges(configuration, written, undecided.wanted).first.flat(), [])
  const decided = configuration.objects({ ...state, addresses: [], undecided: [] }, written)
  assert.is(planChanges(configuration, written, decided.wanted).first.flat().length, written.length)
})

test('an address leaves no pool that holds more than it: the pool keeps what is announced', () => {
  const { state, configuration } = takeover('CPEM 3.8')
  const labels = { [marks.label.name]: marks.label.value, 'service-web': 'namespace-default' }
  const wide = aPool({ name: 'default.web', labels, addresses: ['198.51.100.0/29', '198.51.100.8-198.51.100.9'] })
  const { wanted } = configuration.objects(state, [wide])
  const pools = wanted.map(({ object }) => object).filter(({ kind }) => kind === 'IPAddressPool')
  assert.equal(
    pools.map((pool) => [pool.metadata.name, (pool as typeof wide).spec.addresses]),
    [['default.web', ['198.51.100.7/32', '198.51.100.8/32']]],
  )
})

test('the advertisement keeps the order of its names, and pools that a person named in it', () => {
  const { existing, state, configuration } = takeover('CPEM 3.8')
  const office = aPool({ name: 'office', addresses: ['192.0.2.0/24'] })
  const named = existing.map((object) =>
    object.kind === 'BGPAdvertisement'
      ? { ...object, spec: { ipAddressPools: ['default.web', 'office', 'gone', 'default.api'] } }
      : object,
  )
  const { wanted } = configuration.objects(state, [...named, office])
  const advertisement = wanted.map(({ object }) => object as Stored).find(({ kind }) => kind === 'BGPAdvertisement')
  assert.equal(advertisement?.spec, { ipAddressPools: ['default.web', 'office', 'default.api'] })
})

test('a peer keeps its Secret only if it is ours', () => {
  const { existing, configuration, state } = takeover('CPEM 3.8')
  const nodes = state.nodes.map((node) => ({ ...node, peers: node.peers.map(() => makePeer({ password })) }))
  const byHand = existing.map((one) =>
    one.kind === 'BGPPeer' ? { ...one, spec: { ...one.spec, passwordSecret: { name: 'bgp' } } } : one,
  )
  const { wanted } = configuration.objects({ ...state, nodes }, byHand)
  const peer = wanted.map(({ object }) => object).find(({ metadata }) => metadata.name === 'node-0-0') as BGPPeer
  assert.equal(peer.spec.passwordSecret, { name: 'bgp-password' })
})

test.run()
