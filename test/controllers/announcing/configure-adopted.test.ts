// A real API server with MetalLB's definitions, and 200 nodes whose BGPPeers a predecessor wrote as v1beta1.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { type BGPPeer, bgpAdvertisements, bgpPeers, ipAddressPools } from '../../../announcers/metallb/resources.ts'
import { configureObjects } from '../../../controllers/announcing/configure-objects.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { connect } from '../../../kube/connect.ts'
import { kubeconfig } from '../../../kube/kubeconfig.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { type Resource, defineResource } from '../../../kube/resource.ts'
import { testControlPlane } from '../../control-planes/shared.ts'
import { metallbPrograms } from '../../../sandbox/metallb/build.ts'
import { makeAdministrator } from '../../../sandbox/rig/administrator.ts'
import { crdManifest } from '../../../sandbox/rig/metallb-definitions.ts'
import { marks } from '../../announcers/cluster.ts'
import { objectsOf } from '../../announcers/predecessors.ts'
import { makeNode } from '../../announcers/states.ts'
import { mapAll } from '../../../lib/map-all.ts'

const { namespace } = marks
const signal = new AbortController().signal
const oldPeers = defineResource<KubeObject>({ ...bgpPeers, apiVersion: 'metallb.io/v1beta1' })
const kinds: Resource<KubeObject>[] = [ipAddressPools, bgpAdvertisements, oldPeers]
const password = 's3cret'
const machines = Array.from({ length: 200 }, (_, n) => ({ name: `node-${n}`, address: `10.0.0.${n + 1}` }))
const services = [
  { name: 'web', address: '198.51.100.7' },
  { name: 'api', address: '198.51.100.8' },
]
const state = {
  addresses: services.map(({ name, address }) => ({ address, services: [`default/${name}`] })),
  nodes: machines.map(({ name, address }) => makeNode(name, { sourceAddress: address, password })),
}

async function inCluster(play: (client: KubeClient) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  const controlPlane = await testControlPlane({ dir })
  try {
    const { apply, run } = makeAdministrator(controlPlane)
    await apply(crdManifest(await metallbPrograms('0.16.1')))
    await run(['wait', '--for=condition=Established', 'crd', '--all'])
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await play(connect(kubeconfig({ file: controlPlane.kubeconfig }), { userAgent: 'test' }))
  } finally {
    await controlPlane.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Counts the writes of each object. */
function counting(client: KubeClient): { client: KubeClient; writes: Map<string, number> } {
  const writes = new Map<string, number>()
  const count = (what: string) => void writes.set(what, (writes.get(what) ?? 0) + 1)
  return {
    writes,
    client: {
      ...client,
      apply: (resource, object, options) => {
        count(`apply ${object.metadata.name}`)
        return client.apply(resource, object, options)
      },
      patch: (resource, target, options) => {
        count(`patch ${target.name}`)
        return client.patch(resource, target, options)
      },
      remove: (resource, target, options) => {
        count(`remove ${target.name}`)
        return client.remove(resource, target, options)
      },
    },
  }
}

test('400 peers of 200 nodes that were written as v1beta1 are patched once each, and nothing else is', () =>
  inCluster(async (admin) => {
    const facts = { nodes: machines, routers: ['169.254.255.1', '169.254.255.2'], localAsn: 65000, peerAsn: 65530 }
    const written = objectsOf('CPEM 3.8', { ...facts, services, password })
    await mapAll(
      written,
      async (object) => {
        const resource = kinds.find(({ kind }) => kind === object.kind)
        if (resource) await admin.create(resource, object)
      },
      8,
    )
    const { client, writes } = counting(admin)
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
    assert.ok(passes <= 202, `${passes} passes`)
    assert.equal(
      [...writes].map(([what, times]) => `${what} ${times}`).toSorted(),
      written.map(({ metadata }) => `patch ${metadata.name} 1`).toSorted(),
    )
    const before = written.find(({ metadata }) => metadata.name === 'node-0-0') as BGPPeer
    const after = await admin.get<BGPPeer>(bgpPeers, { namespace, name: 'node-0-0' })
    const { keepaliveTime: _gone, ...kept } = before.spec
    const { holdTime, ebgpMultiHop, ...others } = after?.spec ?? {}
    assert.equal([holdTime, ebgpMultiHop], ['30s', true])
    const defaults = { disableMP: false, dualStackAddressFamily: false, peerPort: 179 }
    assert.equal({ ...defaults, ...others, holdTime: '0s' }, { ...defaults, ...kept }, 'all else stays')

    writes.clear()
    assert.is(await carryOutAll(), 1)
    assert.equal([...writes], [], 'after a restart nothing is written')
  }))

test.run()
