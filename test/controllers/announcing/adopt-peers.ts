import * as assert from 'uvu/assert'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { type BGPPeer, bgpAdvertisements, bgpPeers, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { type Resource, defineResource } from '../../../kube/resource.ts'
import { metallbDefinitions } from '../../../sandbox/metallb/build.ts'
import { makeAdministrator } from '../../../sandbox/rig/administrator.ts'
import { crdManifest } from '../../../sandbox/rig/metallb-definitions.ts'
import { marks } from '../../announcers/cluster.ts'
import { objectsOf } from '../../announcers/predecessors.ts'
import { makeNode } from '../../announcers/states.ts'
import type { Cluster } from './on-control-plane.ts'

const { namespace } = marks
const signal = new AbortController().signal
const oldPeers = defineResource<KubeObject>({ ...bgpPeers, apiVersion: 'metallb.io/v1beta1' })
const kinds: Resource<KubeObject>[] = [ipAddressPools, bgpAdvertisements, oldPeers]
const password = 's3cret'
const machines = Array.from({ length: 12 }, (_, n) => ({ name: `node-${n}`, address: `10.0.0.${n + 1}` }))
const services = [
  { name: 'web', address: '198.51.100.7' },
  { name: 'api', address: '198.51.100.8' },
]
const state = {
  addresses: services.map(({ name, address }) => ({ address, services: [`default/${name}`] })),
  nodes: machines.map(({ name, address }) => makeNode(name, { sourceAddress: address, password })),
}

/** Writes what a predecessor left, with MetalLB's definitions, and adopts it: test/announcers/adoption shows more nodes. */
export async function adoptPeers({ client, controlPlane, writes }: Cluster): Promise<void> {
  const { apply, run } = makeAdministrator(controlPlane)
  await apply(crdManifest(await metallbDefinitions('0.16.1')))
  await run(['wait', '--for=condition=Established', 'crd', '--all'])
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const facts = { nodes: machines, routers: ['169.254.255.1', '169.254.255.2'], localAsn: 65000, peerAsn: 65530 }
  const written = objectsOf('CPEM 3.8', { ...facts, services, password })
  for (const object of written) {
    const resource = kinds.find(({ kind }) => kind === object.kind)
    if (resource) await client.create(resource, object)
  }
  let nowMs = 0
  const carryOutAll = async () => {
    const configuration = metallbObjects({ ...marks, peerMode: 'native' })
    const configurator = configureObjects({ client, configuration, now: () => nowMs })
    for (let passes = 1; ; passes += 1) {
      nowMs += 2000
      const { problems, isUnfinished = false } = await configurator.carryOut(state, signal)
      assert.equal(problems, [])
      if (!isUnfinished) return passes
    }
  }
  const passes = await carryOutAll()
  assert.ok(passes <= machines.length + 2, `${passes} passes`)
  assert.equal(writes.toSorted(), written.map(({ metadata }) => `patch ${metadata.name}`).toSorted())
  const before = written.find(({ metadata }) => metadata.name === 'node-0-0') as BGPPeer
  const after = await client.get<BGPPeer>(bgpPeers, { namespace, name: 'node-0-0' })
  const { keepaliveTime: _gone, ...kept } = before.spec
  const { holdTime, ebgpMultiHop, ...others } = after?.spec ?? {}
  assert.equal([holdTime, ebgpMultiHop], ['30s', true])
  const defaults = { disableMP: false, dualStackAddressFamily: false, peerPort: 179 }
  assert.equal({ ...defaults, ...others, holdTime: '0s' }, { ...defaults, ...kept }, 'all else stays')

  writes.length = 0
  assert.is(await carryOutAll(), 1)
  assert.equal(writes, [], 'after a restart nothing is written')
}
