// The limits of a write and a removal when people write the same objects. In memory: configure-objects has the real answers.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calicoObjects } from '../../../announcers/calico/objects.ts'
import { type BGPConfiguration, calicoResources } from '../../../announcers/calico/resources.ts'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { type BGPPeer, bgpPeers, ipAddressPools, isPeer, isPool } from '../../../announcers/metallb/resources.ts'
import { carryOutChange } from '../../../controllers/announcing/carry-out-change.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { KubeError, isConflict } from '../../../kube/errors.ts'
import { marks } from '../../announcers/cluster.ts'
import { makeNode } from '../../announcers/states.ts'
import { apiServer } from '../../fakes/api-server.ts'

const signal = new AbortController().signal
const state = { addresses: [{ address: '198.51.100.7', services: ['default/web'] }], nodes: [makeNode('node-a')] }
const metallb = metallbObjects({ ...marks, peerMode: 'native' })
const calico = calicoObjects({ namespace: 'calico-system' })

/** Everything that MetalLB is to have. */
const wanted = metallb.objects(state, []).wanted
const [aPool, aPeer] = [isPool, isPeer].map((isOne) => wanted.find(({ object }) => isOne(object)))
if (!aPool || !aPeer) throw new Error('MetalLB has pools and peers')

test('what a person created under the name of our object is not removed in its place', async () => {
  const api = apiServer()
  const remove = api.put(ipAddressPools, aPool.object as never)
  api.drop(ipAddressPools, remove.metadata)
  api.put(ipAddressPools, { ...remove, metadata: { ...remove.metadata, uid: 'of-a-person', labels: {} } })
  const deps = { client: api.client, configuration: metallb }
  const refused = await carryOutChange(deps, { remove }, signal).catch((error: unknown) => error)
  assert.ok(isConflict(refused), String(refused))
  assert.is(api.stored(ipAddressPools).length, 1)
})

const listed = (cidr: string): BGPConfiguration => ({
  apiVersion: 'projectcalico.org/v3',
  kind: 'BGPConfiguration',
  metadata: { name: 'default' },
  spec: { serviceLoadBalancerIPs: [{ cidr }] },
})
const cidrsIn = ([list]: BGPConfiguration[]) => list?.spec?.serviceLoadBalancerIPs?.map(({ cidr }) => cidr)

for (const isThere of [false, true]) {
  test(`a list that a person ${isThere ? 'changes' : 'creates'} while we write ours keeps his entries`, async () => {
    const { configurations } = calicoResources
    const api = apiServer()
    const before = isThere ? api.put(configurations, listed('10.0.0.1/32')) : undefined
    api.put(configurations, { ...before, ...listed('10.0.0.2/32') })
    // An apply takes over what others wrote.
    const apply = async () => api.put(configurations, listed('198.51.100.7/32')) as never
    const write = { object: listed('198.51.100.7/32'), subjects: [] }
    const deps = { client: { ...api.client, apply }, configuration: calico }
    const refused = await carryOutChange(deps, { write, stored: before }, signal).catch((error: unknown) => error)
    assert.ok(refused instanceof KubeError && refused.status === 409, String(refused))
    assert.equal(cidrsIn(api.stored(configurations)), ['10.0.0.2/32'])
  })
}

test('a list that no Service needs any more and that may not be changed counts as refused', async () => {
  const invalid = new KubeError('BGPConfiguration default is invalid', { status: 422, reason: 'Invalid' })
  const patch = () => Promise.reject(invalid)
  const deps = { client: { ...apiServer().client, patch }, configuration: calico }
  const change = { write: { object: listed('10.0.0.1/32'), subjects: [] }, stored: listed('198.51.100.7/32') }
  const { refused, isRefused } = await carryOutChange(deps, change, signal)
  assert.equal([refused, isRefused], [[], true])
})

test('new peers begin sessions, which get time before others end; nothing else does', async () => {
  const api = apiServer()
  const apply: KubeClient['apply'] = (...given) => api.client.create(...given) as never
  const carryOut = async (
    write: typeof aPool,
    { stored, by = apply }: { stored?: BGPPeer; by?: typeof apply } = {},
  ) => {
    const deps = { client: { ...api.client, apply: by }, configuration: metallb }
    return (await carryOutChange(deps, { write, stored }, signal)).hasBegun
  }
  assert.is(await carryOut(aPool), false)
  assert.is(await carryOut(aPeer), true)
  const [stored] = api.stored(bgpPeers)
  if (!stored) throw new Error('the peer was written')
  const labelled = { ...aPeer, object: { ...stored, metadata: { ...stored.metadata, labels: { a: 'b' } } } }
  assert.is(await carryOut(labelled, { stored }), false, 'it was there')
  const refuse = () => Promise.reject(new KubeError('no', { status: 422, reason: 'Invalid' }))
  assert.is(await carryOut(aPeer, { by: refuse }), false, 'it was refused')
})

const answers: [status: number, reason: string, isThere: boolean, outcome: string][] = [
  [400, 'BadRequest', false, 'refused'],
  [403, 'Forbidden', true, 'refused'],
  [422, 'Invalid', true, 'refused'],
  [404, 'UnknownKind', true, 'refused'],
  [404, 'NotFound', false, 'refused'],
  [404, 'NotFound', true, 'thrown'],
  [409, 'Conflict', true, 'thrown'],
  [500, 'InternalError', false, 'thrown'],
]
for (const [status, reason, isThere, outcome] of answers)
  test(`${status} ${reason} for ${isThere ? 'an object that is there' : 'a new object'} is ${outcome}`, async () => {
    const fail = () => Promise.reject(new KubeError('no', { status, reason }))
    const client = { ...apiServer().client, patch: fail, create: fail }
    const write = { object: listed('198.51.100.7/32'), subjects: [{ service: 'default/web' }] }
    const stored = isThere ? listed('10.0.0.1/32') : undefined
    const told = await carryOutChange({ client, configuration: calico }, { write, stored }, signal).then(
      ({ refused }) => refused.map(({ subject }) => subject),
      () => 'thrown',
    )
    assert.equal(told, outcome === 'refused' ? write.subjects : outcome)
  })

for (const [status, reason, outcome] of [
  [403, 'Forbidden', 'refused'],
  [422, 'Invalid', 'refused'],
  [409, 'Conflict', 'thrown'],
  [500, 'InternalError', 'thrown'],
] as const)
  test(`${status} ${reason} for a removal is ${outcome}`, async () => {
    const error = new KubeError('no', { status, reason })
    const client = { ...apiServer().client, remove: () => Promise.reject(error) }
    const told = await carryOutChange({ client, configuration: metallb }, { remove: aPool.object }, signal).then(
      ({ failure, isRefused }) => [failure, isRefused],
      () => 'thrown',
    )
    assert.equal(told, outcome === 'refused' ? [error, true] : outcome)
  })

test.run()
