import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { type FoundBefore, finalizersFor } from '../../../commands/takeover/found.ts'
import { leavesReservation, undoPatch } from '../../../commands/takeover/undo/undo-service.ts'

const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const own = 'eip-admission.dev/address-cleanup'
const shown = 'eip-admission.dev/address'
const since = 'eip-admission.dev/withdrawing-since'
const pool = 'metallb.universe.tf/address-pool'
const unused = 'disabled-metallb-do-not-use-any-address-pool'

type Facts = { finalizers?: string[]; annotations?: Record<string, string>; deletionTimestamp?: string }

function aService(facts: Facts): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', resourceVersion: '7', ...facts },
    spec: { type: 'LoadBalancer', loadBalancerIP: '198.51.100.7' },
  }
}

const rows: [name: string, facts: Facts, patch: { finalizers: string[]; annotations: object } | undefined][] = [
  [
    'one that was taken over',
    { finalizers: [upstream, own], annotations: { [shown]: 'x' } },
    { finalizers: [upstream], annotations: { [shown]: null } },
  ],
  [
    'one that came since gets the finalizer of the predecessor',
    { finalizers: ['foregroundDeletion', own], annotations: { [shown]: 'x', mine: 'y' } },
    { finalizers: ['foregroundDeletion', upstream], annotations: { [shown]: null } },
  ],
  [
    'one that is being deleted gets no new finalizer: the API server refuses it',
    { finalizers: [own], deletionTimestamp: '2026-01-01T00:00:00Z' },
    { finalizers: [], annotations: {} },
  ],
  [
    'one whose address we were withdrawing',
    { finalizers: [own], annotations: { [since]: 'x', [pool]: unused } },
    { finalizers: [upstream], annotations: { [since]: null, [pool]: null } },
  ],
  [
    'one that a user keeps from MetalLB',
    { finalizers: [own], annotations: { [pool]: unused } },
    { finalizers: [upstream], annotations: {} },
  ],
  [
    "the user's own annotations of ours stay",
    { finalizers: [own], annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } },
    { finalizers: [upstream], annotations: {} },
  ],
  ['one that is given back already', { finalizers: [upstream] }, undefined],
  ['one that is none of ours', {}, undefined],
]

for (const [name, facts, patch] of rows) {
  test(`given back: ${name}`, () => {
    const made = undoPatch(aService(facts), [upstream])
    assert.equal(made, patch && { metadata: { resourceVersion: '7', ...patch } })
  })
}

const versions: { of: FoundBefore['predecessor']; version: string | undefined; ofNew: string[] }[] = [
  { of: 'packet', version: '1.1.0', ofNew: [] },
  { of: 'packet', version: '2.0.0', ofNew: [] },
  { of: 'equinix-metal', version: '3.0.2', ofNew: [] },
  { of: 'equinix-metal', version: '3.3.1', ofNew: [] },
  { of: 'equinix-metal', version: '3.4.0', ofNew: [upstream] },
  { of: 'equinix-metal', version: '3.10.0', ofNew: [upstream] },
  { of: 'equinix-metal', version: undefined, ofNew: [upstream] },
  { of: 'cherry-servers', version: '1.26.0', ofNew: [upstream] },
]

for (const { of, version, ofNew } of versions)
  test(`${of} ${version ?? 'of no version'} gets back the finalizers that it had, and its own on new Services`, () => {
    const workload = {
      kind: 'Deployment',
      namespace: 'n',
      name: 'w',
      uid: '',
      image: '',
      version,
      isRunning: true,
    } as const
    const service = (finalizers: string[]) => ({ address: undefined, finalizers })
    const found = {
      predecessor: of,
      workloads: [workload],
      services: { 'default/had': service(['other', upstream]), 'default/lacked': service(['other']) },
    } as unknown as FoundBefore
    const keys = ['default/had', 'default/lacked', 'default/new']
    assert.equal(
      keys.map((key) => finalizersFor(found, key)),
      [ofNew, [], ofNew],
    )
  })

test('a Service that is being deleted without the finalizer of the predecessor leaves its reservation', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.is(leavesReservation(aService({ finalizers: [own], deletionTimestamp }), [upstream]), true)
  assert.is(leavesReservation(aService({ finalizers: [own, upstream], deletionTimestamp }), [upstream]), false)
  assert.is(leavesReservation(aService({ finalizers: [own] }), [upstream]), false)
})

test.run()
