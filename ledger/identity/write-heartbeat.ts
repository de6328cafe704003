import { CloudError } from '../../clouds/ports/cloud.ts'
import { isConflict } from '../../kube/errors.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { heartbeatMark } from '../record/marks.ts'
import type { LedgerMap } from './ledger-map.ts'
import type { HeartbeatEntries, HeartbeatPlan, TakeOverReason } from './heartbeat-plan.ts'

/** The heartbeat entries of the ledger's ConfigMap, and the map that was read. */
export type Known = { entries: HeartbeatEntries; stored: ConfigMap | undefined }

type HeartbeatEvent = { type: 'Normal' | 'Warning'; reason: 'ClusterIdInUse' | 'ClusterTakenOver'; message: string }

export type WriteHeartbeatDeps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'log'> & {
  map: LedgerMap
  intervalMs: number
  /** Reports on the ledger's ConfigMap. */
  event: (map: ConfigMap, event: HeartbeatEvent) => void
}

type Writing = { plan: Extract<HeartbeatPlan, { kind: 'ours' | 'take-over' }>; shown: string[]; heartbeat: string }

type Next = { entries: HeartbeatEntries; cluster: string }

/** How many of our heartbeats we remember: a write whose answer was lost may take effect after later ones. */
export const maxHeartbeats = 8

const reasons: Record<TakeOverReason, string> = {
  confirmed: 'a person has confirmed it',
  ours: 'it wrote the heartbeat itself, before it was put back to an older backup',
  gone: 'the other cluster has written no heartbeat for three of its sweeps',
}

/**
 * Stores the next heartbeat in the cluster before it writes it on the carrier, so that we always recognize our own.
 * Throws if the provider refuses the heartbeat with which we take over, unless a person has confirmed that: the other
 * cluster perhaps cannot write either.
 */
export async function writeHeartbeat(
  deps: WriteHeartbeatDeps,
  writing: Known & Writing,
  signal: AbortSignal,
): Promise<void> {
  const { map, scheme, log, event } = deps
  const { plan, stored } = writing
  const { cluster } = scheme
  const next = nextEntries({ ...writing, cluster })
  if (plan.kind === 'ours') {
    await map.change(stored, next, signal)
    return markCarrier(deps, writing, signal)
  }
  const known = await map.change(stored, { cluster, signs: next['signs'] }, signal)
  await markCarrier(deps, writing, signal)
  const changed = await changeAnyway(map, { known, next }, signal)
  const message = `This cluster continues with the cluster id ${cluster}: ${reasons[plan.why]}`
  log.warn({ cluster, heartbeats: plan.heartbeats }, message)
  event(changed, { type: 'Normal', reason: 'ClusterTakenOver', message })
}

/**
 * Writes over a conflict, because the other cluster's heartbeat is already overwritten. If a faster writer left the
 * halt stored, only a person could end it.
 */
async function changeAnyway(
  map: LedgerMap,
  { known, next }: { known: ConfigMap; next: Record<string, string | undefined> },
  signal: AbortSignal,
): Promise<ConfigMap> {
  try {
    return await map.change(known, next, signal)
  } catch (error) {
    if (!isConflict(error)) throw error
    return map.change(await map.read(signal), next, signal)
  }
}

async function markCarrier(
  { cloud, log }: WriteHeartbeatDeps,
  { plan, heartbeat }: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { carrier } = plan
  try {
    if (carrier) await cloud.mark(carrier, { [heartbeatMark]: heartbeat }, signal)
  } catch (error) {
    if (!(error instanceof CloudError) || (plan.kind === 'take-over' && plan.why !== 'confirmed')) throw error
    // The next sweep writes another heartbeat. Until then the last one says that we live.
    log.warn({ reservation: carrier?.id, error: error.message }, 'the heartbeat is not written')
  }
}

/** The heartbeat entries of the ledger's ConfigMap, ready for a heartbeat that is about to be written. */
function nextEntries({ plan, entries, shown, heartbeat, cluster }: Writing & Next): Record<string, string | undefined> {
  // A heartbeat that a reservation still shows is kept at any age: perhaps no later one could be written.
  const kept = entries.heartbeats.filter(
    (one, n) => n > entries.heartbeats.length - maxHeartbeats || shown.includes(one),
  )
  const heartbeats = plan.carrier ? [...kept, heartbeat] : entries.heartbeats
  const overruled = plan.kind === 'take-over' ? plan.heartbeats : []
  const former = [...entries.former.filter((one) => shown.includes(one)), ...overruled]
  return {
    cluster,
    signs: heartbeats.length > 0 ? heartbeats.join(' ') : undefined,
    'foreign-sign': undefined,
    'foreign-alive': undefined,
    // This ends every process's memory of the halt.
    'overruled-sign': plan.kind === 'take-over' ? (entries.foreign ?? plan.heartbeats[0]) : entries.overruled,
    waiting: undefined,
    'former-signs': former.length > 0 ? former.join(' ') : undefined,
  }
}
