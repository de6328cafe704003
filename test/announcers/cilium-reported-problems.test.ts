import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { reportedProblems } from '../../announcers/cilium/objects.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { makeNode } from './states.ts'

const state = {
  addresses: [
    { address: '198.51.100.7', services: ['default/web'] },
    { address: '198.51.100.70', services: ['default/api', 'shop/api'] },
  ],
  nodes: [makeNode('node-a'), makeNode('node-b')],
}

function report(kind: string, name: string, status: object): KubeObject {
  const labels = name.startsWith('eip-admission') ? { 'app.kubernetes.io/managed-by': 'eip-admission' } : {}
  return { apiVersion: 'cilium.io/v2', kind, metadata: { name, labels }, status } as KubeObject
}

function condition(type: string, status = 'True') {
  return { conditions: [{ type: `cilium.io/${type}`, status, reason: 'x', message: 'why', lastTransitionTime: '' }] }
}

function peers(...states: (string | undefined)[]) {
  const of = (name: string, all: (string | undefined)[]) => ({
    name,
    peers: all.map((peeringState) => ({ peerAddress: '169.254.255.1', ...(peeringState && { peeringState }) })),
  })
  return { bgpInstances: [of('eip-admission-as65000', states), of('fabric', ['idle'])] }
}

const pool = 'CiliumLoadBalancerIPPool'
const cases: { name: string; report: KubeObject; subjects: object[] }[] = [
  {
    name: 'a pool that conflicts',
    report: report(pool, 'eip-admission-198.51.100.70', condition('PoolConflict')),
    subjects: [{ service: 'default/api' }, { service: 'shop/api' }],
  },
  {
    name: 'a pool that no longer conflicts',
    report: report(pool, 'eip-admission-198.51.100.7', condition('PoolConflict', 'False')),
    subjects: [],
  },
  {
    name: 'a foreign pool that conflicts',
    report: report(pool, 'lan', condition('PoolConflict')),
    subjects: [],
  },
  {
    name: 'a node that another ClusterConfig has',
    report: report('CiliumBGPClusterConfig', 'eip-admission-node-b', condition('ConflictingClusterConfig')),
    subjects: [{ node: 'node-b' }],
  },
  {
    name: 'a Secret that Cilium does not find',
    report: report('CiliumBGPPeerConfig', 'eip-admission', condition('MissingAuthSecret')),
    subjects: [{ node: 'node-a' }, { node: 'node-b' }],
  },
  {
    name: 'a condition that we do not know',
    report: report('CiliumBGPPeerConfig', 'eip-admission', condition('Sunny')),
    subjects: [],
  },
  {
    name: 'what an agent cannot carry out',
    report: report('CiliumBGPNodeConfig', 'node-a', condition('BGPReconcileError')),
    subjects: [{ node: 'node-a' }],
  },
  {
    name: 'a node whose sessions are not ours',
    report: report('CiliumBGPNodeConfig', 'node-z', condition('BGPReconcileError')),
    subjects: [],
  },
  {
    name: 'sessions that are established, beside one of a person that is not',
    report: report('CiliumBGPNodeConfig', 'node-a', peers('established', 'established')),
    subjects: [],
  },
  {
    name: 'a session that is not established',
    report: report('CiliumBGPNodeConfig', 'node-a', peers('established', 'active')),
    subjects: [{ node: 'node-a' }],
  },
  {
    name: 'a session of which the agent says nothing',
    report: report('CiliumBGPNodeConfig', 'node-a', peers(undefined)),
    subjects: [{ node: 'node-a' }],
  },
]
for (const { name, report: one, subjects } of cases) {
  test(`${name}: ${subjects.length} problems`, () => {
    const problems = reportedProblems([one], state)
    assert.equal(
      problems.map(({ subject }) => subject),
      subjects,
    )
  })
}

test.run()
