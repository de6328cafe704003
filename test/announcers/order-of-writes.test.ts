// In which order objects are written and removed, where a wrong one would end sessions or let routes through for a moment.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObjectConfiguration } from '../../announcers/announcer.ts'
import { calicoObjects } from '../../announcers/calico/objects.ts'
import { ciliumObjects } from '../../announcers/cilium/objects.ts'
import { metallbObjects } from '../../announcers/metallb/objects.ts'
import { planChanges } from '../../controllers/announcing/plan-changes.ts'
import { marks } from './cluster.ts'
import { makeNode } from './states.ts'

const state = {
  addresses: [{ address: '198.51.100.7', services: ['default/web'] }],
  nodes: [makeNode('node-a', { password: 's3cret' })],
}

/** The kinds of all objects, as the first pass writes them, and as the pass after the last Service removes them. */
function kindsInOrder(configuration: ObjectConfiguration): { written: string[]; removed: string[] } {
  const { wanted } = configuration.objects(state, [])
  const existing = wanted.map(({ object }) => object)
  const written = planChanges(configuration, [], wanted).first.flat()
  const { first, last } = planChanges(configuration, existing, [])
  return {
    written: distinct(written.flatMap((change) => ('write' in change ? change.write.object.kind : []))),
    removed: distinct([...first, last].flat().flatMap((change) => ('remove' in change ? change.remove.kind : []))),
  }
}

function distinct(kinds: string[]): string[] {
  return [...new Set(kinds)]
}

test('at Calico no peer is ever without the filter that keeps routes of others from the provider', () => {
  const { written, removed } = kindsInOrder(calicoObjects({ namespace: 'calico-system' }))
  assert.equal(written, ['Secret', 'BGPFilter', 'BGPPeer', 'BGPConfiguration'])
  const ofSessions = removed.filter((kind) => kind !== 'BGPConfiguration')
  assert.equal(ofSessions, ['BGPPeer', 'BGPFilter', 'Secret'], 'without sessions the list announces nothing')
})

test('at Cilium no session begins before what it needs is there, nor loses it before it ends', () => {
  const { written, removed } = kindsInOrder(ciliumObjects({ secretsNamespace: 'kube-system' }))
  assert.equal(written, [
    'Secret',
    'CiliumBGPPeerConfig',
    'CiliumBGPAdvertisement',
    'CiliumBGPNodeConfigOverride',
    'CiliumBGPClusterConfig',
    'CiliumLoadBalancerIPPool',
  ])
  assert.equal(removed, written.toReversed())
})

test('MetalLB keeps the password until no peer names it: it would refuse its whole configuration', () => {
  const configuration = metallbObjects({ ...marks, peerMode: 'native' })
  const nodesWith = (facts: Parameters<typeof makeNode>[1]) => ['node-a', 'node-b'].map((name) => makeNode(name, facts))
  const { wanted } = configuration.objects({ ...state, nodes: nodesWith({ password: 's3cret' }) }, [])
  const existing = wanted.map(({ object }) => object)
  const open = configuration.objects({ ...state, nodes: nodesWith({}) }, existing)
  const { first, waves, last } = planChanges(configuration, existing, open.wanted)
  assert.equal(first, [])
  assert.is(waves.flat(2).length, 4, 'each session changes')
  assert.equal(
    last.map((change) => 'remove' in change && change.remove.kind),
    ['Secret'],
  )
})

test.run()
