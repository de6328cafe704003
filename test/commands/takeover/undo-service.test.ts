import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP, Phase } from '../../../ledger/record/elastic-ip.ts'
import { type FoundBefore, finalizersFor } from '../../../commands/takeover/found.ts'
import { leavingReason, undoPatch } from '../../../commands/takeover/undo/undo-service.ts'

const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const own = 'eip-admission.dev/address-cleanup'
const shown = 'eip-admission.dev/address'
const since = 'eip-admission.dev/withdrawing-since'
const pool = 'metallb.universe.tf/address-pool'
const unused = 'disabled-metallb-do-not-use-any-address-pool'

type Facts = { name?: string; finalizers?: string[]; annotations?: Record<string, string>; deletionTimestamp?: string }

function aService(facts: Facts): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', resourceVersion: '7', ...facts },
    spec: { type: 'LoadBalancer', loadBalancerIP: '198.51.100.7' },
  }
}

const deletionTimestamp = '2026-01-01T00:00:00Z'
const aRecord = (phase: Phase): ElasticIP => ({
  apiVersion: 'eip-admission.dev/v1alpha1',
  kind: 'ElasticIP',
  metadata: { name: 'default.web' },
  spec: { claimRef: { namespace: 'default', name: 'web', uid: 'u' }, reclaimPolicy: 'Delete' },
  status: { phase, address: '198.51.100.7', reservationID: 'r' },
})

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

const leaving: [name: string, service: Facts | undefined, phase: Phase, reason: RegExp | undefined][] = [
  ['of a live Service', { finalizers: [own] }, 'Bound', undefined],
  ['of a Service that went', undefined, 'Bound', /^Service default\/web no longer exists$/],
  [
    'of a Service that ends',
    { finalizers: [own], deletionTimestamp },
    'Bound',
    /^Service default\/web is being deleted$/,
  ],
  ['that the predecessor releases', { finalizers: [own, upstream], deletionTimestamp }, 'Bound', undefined],
  [
    'whose Service ends without either finalizer',
    { finalizers: ['x'], deletionTimestamp },
    'Bound',
    /is being deleted$/,
  ],
  ['that is retained beside a live Service', { finalizers: [own] }, 'Released', /^ElasticIP default.web was Released$/],
]

for (const [name, facts, phase, reason] of leaving)
  test(`left behind, or not: a reservation ${name}`, () => {
    const said = leavingReason(aRecord(phase), facts ? [aService(facts)] : [], [upstream])
    if (reason) assert.match(said ?? '', reason)
    else assert.is(said, undefined)
  })

test('a reservation whose address another Service shows is to be kept, whatever its record says', () => {
  const other = aService({ name: 'other' })
  for (const phase of ['Bound', 'Releasing', 'Released'] as const)
    assert.is(leavingReason(aRecord(phase), [other], []), 'Service default/other shows its address: keep it')
})

test.run()
