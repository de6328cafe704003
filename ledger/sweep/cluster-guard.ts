import { randomBytes } from 'node:crypto'
import { CloudError, type Reservation } from '../../clouds/cloud.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { ClusterState } from '../record/cluster-check.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { confirmAnnotation } from '../record/names.ts'
import type { LedgerMap } from './ledger-map.ts'
import { makeSign, planSign, type SignEntries, signMark, type SignPlan, signsOf, textOf } from './sign-plan.ts'

export type ClusterGuard = {
  state(): ClusterState
  /** A new leader knows nothing yet. */
  reset(): void
  /** Compares the signs in a list of reservations with ours, and writes the next one. Returns what the sweep may do. */
  check(reservations: Reservation[], signal: AbortSignal): Promise<'all' | 'no-release' | 'nothing'>
}

export type ClusterGuardDeps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'log'> & {
  map: LedgerMap
  intervalMs: number
  monotonicMs: () => number
  /** Reports on the ledger's ConfigMap. */
  event: (map: ConfigMap, event: { type: 'Normal' | 'Warning'; reason: string; message: string }) => void
}

/** How many of our signs we remember: a write whose answer was lost may be carried out after later ones. */
const maxSigns = 8

/** Notices another cluster that uses our id. */
export function clusterGuard(deps: ClusterGuardDeps): ClusterGuard {
  const { map, scheme } = deps
  const signs = signWatch(deps)
  let state: ClusterState = { kind: 'unchecked' }
  return {
    state: () => state,
    reset() {
      state = { kind: 'unchecked' }
      signs.reset()
    },
    async check(reservations, signal) {
      const stored = await map.read(signal)
      const entries = entriesOf(stored, scheme.cluster)
      const plan = signs.decide(reservations, entries)
      if (plan.kind === 'foreign') {
        const reason = await stop(deps, { plan, entries, stored }, signal)
        state = { kind: 'foreign', reason }
        return 'nothing'
      }
      if (plan.kind !== 'observe') {
        await writeSign(deps, { plan, entries, stored, shown: signsOf({ reservations, scheme }) }, signal)
        signs.endObserving()
      }
      state = { kind: 'ours' }
      return plan.kind === 'observe' ? 'no-release' : 'all'
    },
  }
}

/** Measures by our own clock how long this leader observes, and how long foreign signs have not changed. */
function signWatch({ scheme, intervalMs, monotonicMs }: ClusterGuardDeps) {
  let sinceMs: number | undefined
  let isObserved = false
  let watched: { signs: string; sinceMs: number } | undefined
  return {
    reset() {
      sinceMs = undefined
      isObserved = false
      watched = undefined
    },
    endObserving: () => void (isObserved = true),
    decide(reservations: Reservation[], entries: SignEntries): SignPlan {
      const nowMs = monotonicMs()
      sinceMs ??= nowMs
      const observedMs = isObserved ? Infinity : nowMs - sinceMs
      const last = watched && { signs: watched.signs, forMs: nowMs - watched.sinceMs }
      const plan = planSign({ reservations, scheme, entries, observedMs, watched: last, intervalMs })
      const text = plan.kind === 'foreign' ? textOf(plan.signs) : undefined
      if (text === undefined) watched = undefined
      else if (watched?.signs !== text) watched = { signs: text, sinceMs: nowMs }
      return plan
    },
  }
}

/** Why nothing may be reserved, by the ledger's ConfigMap: replicas that do not lead ask this too. */
export function haltReason(map: ConfigMap | undefined, cluster: string): string | undefined {
  return map && entriesOf(map, cluster).foreign !== undefined ? conflictReason(map, cluster) : undefined
}

function conflictReason({ metadata, data = {} }: ConfigMap, cluster: string): string {
  const { 'foreign-sign': sign = '', 'foreign-alive': alive } = data
  const { namespace, name } = metadata
  const confirm = `kubectl annotate configmap -n ${namespace} ${name} ${confirmAnnotation}=${sign}`
  const end = alive === undefined ? 'If it is gone, this ends by itself after three sweeps. ' : ''
  return (
    `another cluster uses the cluster id ${cluster}: nothing is reserved, released or adopted. ${end}` +
    `If this cluster is a copy, stop it, or give it another --cluster-id. If it is the original, stop the copy, then run: ${confirm}`
  )
}

/** The entries of our id; with another id we begin anew. */
function entriesOf(map: ConfigMap | undefined, cluster: string): SignEntries {
  const { data = {} } = map ?? {}
  const ofUs = (data['cluster'] ?? cluster) === cluster ? data : {}
  const { signs = '', 'foreign-sign': foreign, 'foreign-alive': alive, 'former-signs': former = '' } = ofUs
  const list = (text: string) => text.split(' ').filter((one) => one !== '')
  const confirmed = map?.metadata.annotations?.[confirmAnnotation]
  return { signs: list(signs), foreign, isAlive: alive !== undefined, former: list(former), confirmed }
}

type Known = { entries: SignEntries; stored: ConfigMap | undefined }

/** Stores that another cluster uses our id, for all replicas, and says so; returns the reason. */
async function stop(
  { map, scheme, log, event }: ClusterGuardDeps,
  { plan, entries, stored }: Known & { plan: Extract<SignPlan, { kind: 'foreign' }> },
  signal: AbortSignal,
): Promise<string> {
  const change = {
    cluster: scheme.cluster,
    'foreign-sign': entries.foreign ?? plan.signs[0],
    'foreign-alive': plan.isAlive ? 'true' : undefined,
  }
  const halted = await map.change(stored, change, signal)
  const reason = conflictReason(halted, scheme.cluster)
  log.error({ cluster: scheme.cluster, signs: plan.signs }, reason)
  event(halted, { type: 'Warning', reason: 'ClusterIdInUse', message: reason })
  return reason
}

/** Stores the next sign in the cluster, then writes it on the carrier: so a sign of ours is always known as ours. */
async function writeSign(
  deps: ClusterGuardDeps,
  {
    plan,
    entries,
    stored,
    shown,
  }: Known & { plan: Extract<SignPlan, { kind: 'ours' | 'take-over' }>; shown: string[] },
  signal: AbortSignal,
): Promise<void> {
  const { map, cloud, scheme, log, event } = deps
  const { carrier } = plan
  const sign = makeSign(randomBytes(8).toString('hex'), deps.intervalMs)
  // One that is still shown is kept however old it is: perhaps no later one could be written.
  const kept = entries.signs.filter((one, n) => n > entries.signs.length - maxSigns || shown.includes(one))
  const signs = carrier ? [...kept, sign] : entries.signs
  const overruled = plan.kind === 'take-over' ? plan.signs : []
  const former = [...entries.former.filter((one) => shown.includes(one)), ...overruled]
  const changed = await map.change(
    stored,
    {
      cluster: scheme.cluster,
      signs: signs.length > 0 ? signs.join(' ') : undefined,
      'foreign-sign': undefined,
      'foreign-alive': undefined,
      'former-signs': former.length > 0 ? former.join(' ') : undefined,
    },
    signal,
  )
  if (plan.kind === 'take-over') {
    const message = `This cluster goes on with the cluster id ${scheme.cluster}: the other one is gone or overruled`
    log.warn({ cluster: scheme.cluster, signs: overruled }, message)
    event(changed, { type: 'Normal', reason: 'ClusterTakenOver', message })
  }
  try {
    if (carrier) await cloud.mark(carrier.id, { [signMark]: sign }, signal)
  } catch (error) {
    // The next sweep writes another one. Until then the last sign says that we live.
    if (!(error instanceof CloudError)) throw error
    log.warn({ reservation: carrier?.id, error: error.message }, 'the sign of life is not written')
  }
}
