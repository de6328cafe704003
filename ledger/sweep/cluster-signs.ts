import { randomBytes } from 'node:crypto'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import type { ClusterState } from '../record/ledger-deps.ts'
import { confirmAnnotation } from '../record/names.ts'
import { type ReleaseWaitDeps, releaseWait } from './release-wait.ts'
import {
  makeSign,
  planSign,
  type SignEntries,
  type SignPlan,
  type SignSeen,
  signsOf,
  signsText,
  strangeSigns,
  witnessOf,
} from './sign-plan.ts'
import type { Witness } from './witness.ts'
import { type Known, type WriteSignDeps, maxSigns, writeSign } from './write-sign.ts'

export type ClusterSigns = {
  state(): ClusterState
  /**
   * A new leader knows nothing yet. `silentMs`: how long the lease had not been renewed when it claimed it; undefined if
   * there was none.
   */
  reset(silentMs: number | undefined): void
  /** How long releases have to wait; undefined if they do not. */
  waitMs(): number | undefined
  /** Compares the signs in a list of reservations with ours, and writes the next one. Returns what the sweep may do. */
  check(reservations: Reservation[], signal: AbortSignal): Promise<'all' | 'no-release' | 'nothing'>
}

export type ClusterSignsDeps = WriteSignDeps & ReleaseWaitDeps & { witness: Witness }

/** Notices another cluster that uses our id. */
export function clusterSigns(deps: ClusterSignsDeps): ClusterSigns {
  const signs = signWatch(deps)
  const wait = releaseWait(deps)
  // The ConfigMap may be deleted, or restored from an older backup: what this process wrote is this cluster's all the same.
  const written: string[] = []
  let state: ClusterState = { kind: 'unchecked' }
  return {
    state: () => state,
    reset(silentMs) {
      state = { kind: 'unchecked' }
      signs.reset()
      wait.reset(silentMs)
    },
    waitMs: () => wait.leftMs(),
    async check(reservations, signal) {
      const stored = await deps.map.read(signal)
      const entries = withSigns(entriesOf(stored, deps.scheme.cluster), written)
      const witness = await deps.witness.find(signal)
      const witnessed = await findWitnessed(deps, { reservations, entries }, signal)
      const plan = signs.decide(reservations, { entries, witnessed })
      if (plan.kind === 'foreign') {
        const reason = await stop(deps, { plan, entries, stored }, signal)
        state = { kind: 'foreign', reason }
        return 'nothing'
      }
      if (plan.kind === 'observe') {
        await wait.begin({ plan, entries, stored }, signal)
        state = { kind: wait.leftMs() === undefined ? 'ours' : 'waiting' }
        return 'no-release'
      }
      const sign = makeSign(randomBytes(8).toString('hex'), { intervalMs: deps.intervalMs, witness })
      written.splice(0, written.length, ...written.slice(-maxSigns), sign)
      const shown = signsOf({ reservations, scheme: deps.scheme })
      await writeSign(deps, { plan, entries, stored, sign, shown }, signal)
      signs.endObserving()
      wait.end()
      state = { kind: 'ours' }
      return 'all'
    },
  }
}

/** How long no look may have succeeded. After more, foreign signs may have had no chance to change. */
const maxGapMs = (intervalMs: number) => Math.max(2 * intervalMs, 10_000)

/** Measures by our own clock how long this leader observes, and how long foreign signs have not changed. */
function signWatch({ scheme, intervalMs, monotonicMs }: ClusterSignsDeps) {
  let sinceMs: number | undefined
  let isObserved = false
  let watched: { signs: string; sinceMs: number; seenMs: number } | undefined
  return {
    reset() {
      sinceMs = undefined
      isObserved = false
      watched = undefined
    },
    endObserving: () => void (isObserved = true),
    decide(reservations: Reservation[], { entries, witnessed }: Pick<SignSeen, 'entries' | 'witnessed'>): SignPlan {
      const nowMs = monotonicMs()
      sinceMs ??= nowMs
      const observedMs = isObserved ? Infinity : nowMs - sinceMs
      // While we could not read the cloud, the other cluster perhaps could not write.
      if (watched && nowMs - watched.seenMs > maxGapMs(intervalMs)) watched.sinceMs = nowMs
      const last = watched && { signs: watched.signs, forMs: nowMs - watched.sinceMs }
      const plan = planSign({ reservations, scheme, entries, observedMs, watched: last, witnessed, intervalMs })
      // Where a take-over fails, what was seen of the other cluster proves nothing any more.
      const text = plan.kind === 'foreign' ? signsText(plan.signs) : undefined
      if (text === undefined) watched = undefined
      else watched = { signs: text, sinceMs: watched?.signs === text ? watched.sinceMs : nowMs, seenMs: nowMs }
      return plan
    },
  }
}

/** The strange signs that this cluster wrote itself before it was put back: their witness serves it. */
async function findWitnessed(
  { scheme, witness }: ClusterSignsDeps,
  seen: Pick<SignSeen, 'reservations' | 'entries'>,
  signal: AbortSignal,
): Promise<string[]> {
  // Somebody else was seen to write signs: only a person can tell now.
  if (seen.entries.isAlive) return []
  const found: string[] = []
  for (const sign of strangeSigns({ ...seen, scheme })) {
    const machine = witnessOf(sign)
    if (machine !== undefined && (await witness.serves(machine, signal))) found.push(sign)
  }
  return found
}

/** Why nothing may be reserved, by the ledger's ConfigMap: replicas that do not lead ask this too. */
export function haltReason(map: ConfigMap | undefined, cluster: string): string | undefined {
  return map && entriesOf(map, cluster).foreign !== undefined ? conflictReason(map, cluster) : undefined
}

function conflictReason({ metadata, data = {} }: ConfigMap, cluster: string): string {
  const { 'foreign-sign': sign = '', 'foreign-alive': alive } = data
  const { namespace, name } = metadata
  const confirm = `kubectl annotate configmap -n ${namespace} ${name} --overwrite ${confirmAnnotation}=${sign}`
  const end = alive === undefined ? 'If it is gone, this ends by itself after three sweeps. ' : ''
  return (
    `another cluster uses the cluster id ${cluster}: nothing is reserved, released or adopted. ${end}` +
    `If this cluster is a copy, stop it, or give it another --cluster-id. If it is the original, stop the copy, then run: ${confirm}`
  )
}

function withSigns(entries: SignEntries, more: string[]): SignEntries {
  return { ...entries, signs: [...new Set([...entries.signs, ...more])] }
}

/** The entries of our id; with another id we begin anew. */
function entriesOf(map: ConfigMap | undefined, cluster: string): SignEntries {
  const { data = {} } = map ?? {}
  const ofUs = (data['cluster'] ?? cluster) === cluster ? data : {}
  const { signs = '', 'foreign-sign': foreign, 'foreign-alive': alive, 'former-signs': former = '', waiting } = ofUs
  const list = (text: string) => text.split(' ').filter((one) => one !== '')
  const confirmed = map?.metadata.annotations?.[confirmAnnotation]
  return {
    signs: list(signs),
    foreign,
    isAlive: alive !== undefined,
    hasWaited: waiting !== undefined,
    former: list(former),
    confirmed,
  }
}

/** Stores that another cluster uses our id, for all replicas, and says so; returns the reason. */
async function stop(
  { map, scheme, log, event }: ClusterSignsDeps,
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
