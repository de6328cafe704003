// Every way by which a release reaches the cloud, and each state of the cluster. Only `ours` changes anything there.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClusterState } from '../../../ledger/identity/heartbeats.ts'
import { type ElasticIP, elasticIPs, releaseRecordName } from '../../../ledger/record/elastic-ip.ts'
import { warmLabel, recordFinalizer } from '../../../ledger/record/names.ts'
import { serviceMarks, sourceMarks } from '../../../ledger/record/marks.ts'
import { type ReleaseDeps, release, releaseSource } from '../../../ledger/release/release.ts'
import { makeLot, makeRecord, makeReservation } from '../../builders.ts'
import { makeHarness, neverAborted, scheme, terminating } from '../harness.ts'

const held = { address: '203.0.113.40', reservationID: 'res-1' } as const
const deletionTimestamp = '2026-01-31T09:00:00Z'
const bound = makeRecord({ ...held, phase: 'Bound' })
const kept = makeRecord({ ...held, phase: 'Bound' }, { reclaimPolicy: 'Retain' })
const lot = makeLot('warm-1', { location: 'da', reclaimPolicy: 'Delete' }, { ...held, phase: 'Available' })
const office = makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }, { ...held, phase: 'Available' })
const withMetadata = (record: ElasticIP, metadata: Partial<ElasticIP['metadata']>): ElasticIP => ({
  ...record,
  metadata: { ...record.metadata, ...metadata },
})

type Way = [
  name: string,
  record: ElasticIP,
  run: (deps: ReleaseDeps, record: ElasticIP, signal: AbortSignal) => Promise<unknown>,
  of?: { isDefinitionDeleted: true },
]

const releaseRecord: Way[2] = (deps, record, signal) => release(deps, { record }, signal)
const definition = { isDefinitionDeleted: true } as const
const ways: Way[] = [
  ['the release of a Service’s address', bound, releaseRecord],
  [
    'the release of a warm address',
    withMetadata(lot, { uid: 'warm-uid', labels: { [warmLabel]: 'true' } }),
    releaseSource,
  ],
  [
    'the end of the definition under a retained record',
    withMetadata(kept, { deletionTimestamp }),
    releaseRecord,
    definition,
  ],
  [
    'the end of the definition under a provisioned one',
    withMetadata(office, { deletionTimestamp, finalizers: [recordFinalizer] }),
    releaseSource,
    definition,
  ],
]
const states: ClusterState[] = [
  { kind: 'ours' },
  { kind: 'unchecked' },
  { kind: 'waiting' },
  { kind: 'foreign', reason: 'another cluster uses the id' },
]

for (const [name, record, run, of] of ways)
  for (const state of states)
    test(`${name}, while the cluster is ${state.kind}`, async () => {
      const harness = makeHarness()
      const marks = record.spec.claimRef ? serviceMarks(scheme, 'default/web') : sourceMarks(scheme, 'warm-uid')
      harness.cloud.put(makeReservation({ marks }))
      harness.api.put(elasticIPs, record)
      const before = ({ verb }: { verb: string }) => {
        if (verb === 'create' && of?.isDefinitionDeleted) throw terminating
      }
      const { deps } = harness.process('a', { kube: { before } })
      const [stored] = harness.api.stored(elasticIPs)
      if (!stored) throw new Error('there is no record')
      await Promise.allSettled([run({ ...deps, clusterState: () => state }, stored, neverAborted)])
      const changes = [...harness.cloud.released, ...harness.cloud.marked]
      assert.equal(changes, state.kind === 'ours' ? ['res-1'] : [])
      // An address that is not released keeps its record, or nobody would know of it.
      assert.is(harness.api.stored(elasticIPs).length, state.kind === 'ours' ? 0 : 1)
    })

const allowed = { ours: 'all', unchecked: 'nothing', waiting: 'no-release', foreign: 'nothing' } as const
for (const state of states)
  test(`a deletion that a sweep continues, while the cluster is ${state.kind}`, async () => {
    const harness = makeHarness()
    harness.cloud.put(makeReservation({ marks: serviceMarks(scheme, 'default/web') }))
    const status = { ...held, phase: 'Releasing', deletionRequestedAt: deletionTimestamp } as const
    const spec = { reclaimPolicy: 'Delete', reservationID: 'res-1' } as const
    harness.api.put(elasticIPs, makeLot(releaseRecordName('res-1'), spec, status))
    const { heartbeats, sweep } = harness.process('a')
    Object.assign(heartbeats, { state: () => state, check: async () => allowed[state.kind] })
    await Promise.allSettled([sweep(neverAborted)])
    assert.equal(harness.cloud.released, state.kind === 'ours' ? ['res-1'] : [])
    assert.is(harness.api.stored(elasticIPs).length, state.kind === 'ours' ? 0 : 1)
  })

test.run()
