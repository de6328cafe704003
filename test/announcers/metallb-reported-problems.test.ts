import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { reportedProblems } from '../../announcers/metallb/objects.ts'
import type { ConfigurationState } from '../../announcers/metallb/resources.ts'
import { marks } from './cluster.ts'
import { makeNode } from './states.ts'

const state = {
  addresses: [
    { address: '198.51.100.7', services: ['default/web'] },
    { address: '198.51.100.70', services: ['default/api', 'shop/api'] },
  ],
  nodes: [makeNode('node-a'), makeNode('node-b')],
}

function report(name: string, status: ConfigurationState['status'], node?: string): ConfigurationState {
  const labels = node === undefined ? {} : { 'metallb.io/node-name': node }
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'ConfigurationState',
    metadata: { name, namespace: marks.namespace, labels },
    ...(status ? { status } : {}),
  }
}

const overlap = 'CIDR "198.51.100.7/32" in pool "office" overlaps with already defined CIDR "198.51.100.0/24"'
const heard: { name: string; reports: ConfigurationState[]; subjects: object[] }[] = [
  { name: 'a configuration that is valid', reports: [report('controller', { result: 'Valid' })], subjects: [] },
  { name: 'a component that has not reported yet', reports: [report('controller', undefined)], subjects: [] },
  {
    name: 'a refusal that names an address, and not a longer one that begins alike',
    reports: [report('controller', { result: 'Invalid', errorSummary: overlap })],
    subjects: [{ service: 'default/web' }],
  },
  {
    name: 'a refusal that names a pool as a predecessor called it',
    reports: [report('controller', { result: 'Invalid', errorSummary: 'parsing address pool default.web: no' })],
    subjects: [{ service: 'default/web' }],
  },
  {
    name: 'a refusal that names a pool with a longer name than ours',
    reports: [report('speaker-x', { result: 'Invalid', errorSummary: 'address pool default.web.old: no' }, 'node-b')],
    subjects: [{ node: 'node-b' }],
  },
  {
    name: 'a refusal that names the peer of a node',
    reports: [report('speaker-node-b', { result: 'Invalid', errorSummary: 'peer node-a.169.254.255.1: no' }, 'node-b')],
    subjects: [{ node: 'node-a' }],
  },
  {
    name: 'a refusal by a node that names no subject',
    reports: [report('speaker-node-b', { result: 'Invalid', errorSummary: 'bfd profiles section set' }, 'node-b')],
    subjects: [{ node: 'node-b' }],
  },
  {
    name: 'a refusal that names no subject',
    reports: [report('controller', { result: 'Invalid', errorSummary: 'parsing community x' })],
    subjects: [{ service: 'default/api' }, { service: 'default/web' }, { service: 'shop/api' }],
  },
]
for (const { name, reports, subjects } of heard) {
  test(`heard of MetalLB: ${name}`, () => {
    assert.equal(
      reportedProblems(reports, state).map(({ subject }) => subject),
      subjects,
    )
  })
}

test('a state that MetalLB may leave automatically may pass, and any other may not', () => {
  const mayPass = (errorSummary: string) =>
    reportedProblems([report('speaker-node-a', { result: 'Invalid', errorSummary }, 'node-a')], state)[0]?.mayPass
  assert.is(mayPass('configuration error: general handler sync state error'), true)
  assert.is(mayPass('configuration error: bfd profiles section set'), undefined)
})

test('a problem contains MetalLB’s own words', () => {
  const lastTransitionTime = '2026-01-31T09:00:00Z'
  const status = 'False'
  const type = 'poolReconcilerValid'
  const conditions = [{ type, status, reason: 'ConfigurationError', message: overlap, lastTransitionTime } as const]
  assert.equal(reportedProblems([report('controller', { result: 'Invalid', conditions })], state), [
    {
      subject: { service: 'default/web' },
      message: `MetalLB (controller) refuses its configuration: ${overlap}`,
    },
  ])
})

test.run()
