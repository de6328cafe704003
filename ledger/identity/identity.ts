import { systemClock } from '../../kube/clock.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Node } from '../../kube/objects.ts'
import { leases, nodeLeaseNamespace } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import type { Context } from '../context.ts'
import { type AddressKey, elasticIPs, reservationIdOf } from '../record/elastic-ip.ts'
import { ownerMarks } from '../record/marks.ts'
import { type AdoptionMark, adoptionMark, type Leader } from './adoption-mark.ts'
import { type Heartbeats, type HeartbeatsDeps, type ClusterState, clusterHeartbeats } from './heartbeats.ts'
import { haltMemory, type LedgerMap, ledgerMap } from './ledger-map.ts'
import {
  type LossConfirmation,
  lossConfirmation,
  type ProjectCheck,
  type ProjectCheckOptions,
  projectCheck,
} from './project-check.ts'
import { witness } from './witness.ts'

export type IdentityOptions = Context & {
  nodes: () => Node[]
  monotonicMs: () => number
}

/** Which cluster and which project the ledger belongs to, and what is allowed while that is uncertain. */
export type Identity = {
  map: LedgerMap
  mark: AdoptionMark
  heartbeats: Heartbeats
  project: ProjectCheck
  loss: LossConfirmation
  /** Why no claim may call the provider now: another cluster uses our id, or the project is another one. */
  haltReason: (signal: AbortSignal) => Promise<string | undefined>
  /**
   * Whether every reservation with our marks that an address could use has a record, so that no record means no
   * reservation.
   */
  isAdopted: (signal: AbortSignal, key?: AddressKey) => Promise<boolean>
  /** Whether another cluster uses our id, as far as this process knows. */
  clusterState: () => ClusterState
}

/** The identity of this cluster and its project, as one process sees it. */
export function makeIdentity(options: IdentityOptions): Identity {
  const { client, vendor, cluster, identity, settings, monotonicMs } = options
  const at = { namespace: settings.process.namespace, name: names.ledgerConfigMap }
  const halt = haltMemory({ cluster, at })
  const map = ledgerMap({ client, ...at, halt, monotonicMs })
  const mark = adoptionMark({ map, project: vendor.project.id, identity, leader: leaderReader(options), monotonicMs })
  const scheme = { ...vendor.marks, cluster }
  const heartbeats = makeHeartbeats(options, { map, scheme, halt, monotonicMs })
  const project = makeProjectCheck(options, { map, at })
  return {
    map,
    mark,
    heartbeats,
    project,
    loss: lossConfirmation(options, { map, at }),
    async haltReason(signal) {
      const stored = await map.recent(signal)
      return project.haltReason(stored) ?? halt.reason(stored)
    },
    isAdopted: (signal, key) => mark.isSet(signal, key === undefined ? [] : ownerMarks(scheme, key)),
    clusterState: () => heartbeats.state(),
  }
}

/**
 * Reads the current leader: the holder of the lease and when it acquired it, or this replica if there is no election.
 */
function leaderReader({ client, settings, identity }: IdentityOptions) {
  const { leaderElect, leaseNamespace, leaseName } = settings.process
  const lease = { namespace: leaseNamespace, name: leaseName }
  return async (signal: AbortSignal): Promise<Leader | undefined> => {
    if (!leaderElect) return { identity, since: '' }
    const { holderIdentity, acquireTime } = (await client.get(leases, lease, { signal }))?.spec ?? {}
    return { identity: holderIdentity, since: acquireTime }
  }
}

function makeProjectCheck(
  { vendor, client, cluster, events, metrics, log }: IdentityOptions,
  { map, at }: Pick<ProjectCheckOptions, 'map' | 'at'>,
): ProjectCheck {
  const recorder = events.of('service-controller')
  const check = projectCheck({
    map,
    at,
    project: vendor.project,
    cluster,
    held: async (signal) =>
      (await listAll(client, elasticIPs, { signal })).flatMap((record) => reservationIdOf(record) ?? []),
    list: (signal) => vendor.cloud.reservations({}, signal),
    log,
    event: (about, occurrence) => recorder.record(about, occurrence),
  })
  metrics.read('eip_admission_other_project', () => Number(check.problem() !== undefined))
  return check
}

function makeHeartbeats(
  { client, nodes, vendor, settings, events, metrics, log }: IdentityOptions,
  facts: Pick<HeartbeatsDeps, 'map' | 'scheme' | 'halt' | 'monotonicMs'>,
): Heartbeats {
  const recorder = events.of('service-controller')
  const { sweepIntervalMs: intervalMs } = settings.cluster
  // The lease must expire first, and then a process must start.
  const successionMs = settings.process.leaseDurationMs + 60_000
  const event: HeartbeatsDeps['event'] = (map, occurrence) => recorder.record(map, occurrence)
  const kubelets = witness({
    nodes,
    renewTime: async (name, signal) =>
      (await client.get(leases, { namespace: nodeLeaseNamespace, name }, { signal }))?.spec?.renewTime,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    log,
  })
  const heartbeats = clusterHeartbeats({
    ...facts,
    cloud: vendor.cloud,
    log,
    intervalMs,
    successionMs,
    event,
    witness: kubelets,
  })
  metrics.read('eip_admission_cluster_id_in_use', () => {
    const { kind } = heartbeats.state()
    return kind === 'unchecked' || kind === 'waiting' ? undefined : Number(kind === 'foreign')
  })
  return heartbeats
}
