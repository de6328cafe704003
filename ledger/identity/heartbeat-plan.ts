import type { Reservation, MarkScheme } from '../../clouds/ports/cloud.ts'
import { heartbeatMark } from '../record/marks.ts'

/*
 * A copy of a cluster, restored from a backup, has the same id: its sweep would release what the original uses. So each
 * sweep writes a new heartbeat on one reservation, the carrier, and stores its last heartbeats in the cluster. A
 * cluster that finds a heartbeat there that it did not write is not alone.
 */

/** The heartbeat entries of the ledger's ConfigMap. */
export type HeartbeatEntries = {
  /** The last heartbeats that we wrote, the newest last. */
  heartbeats: string[]
  /** The other cluster's first heartbeat, because of which we stopped. */
  foreign: string | undefined
  /** Whether the other cluster has written a second heartbeat since. */
  isAlive: boolean
  /** Whether a leader's wait before releases was interrupted. */
  hasWaited: boolean
  /** Heartbeats of clusters that no longer exist or that a person has overruled. */
  former: string[]
  /** The last `foreign` that is over: the other cluster stopped, it was this one, or a person has overruled it. */
  overruled: string | undefined
  /** The heartbeat that a person overrules. */
  confirmed: string | undefined
}

export type HeartbeatSeen = {
  reservations: Reservation[]
  scheme: MarkScheme
  entries: HeartbeatEntries
  /** How long ago this leader first looked at the heartbeats; infinite once it has written one. */
  observedMs: number
  /** The foreign heartbeats of the last sweep, and how long they have not changed. */
  watched: { heartbeats: string; forMs: number } | undefined
  /** The foreign heartbeats whose machine serves this cluster. */
  witnessed: readonly string[]
  intervalMs: number
}

/**
 * The work that a sweep may do. `ours`: everything, after it has written the next heartbeat on the carrier. `observe`:
 * everything but releases and heartbeats. `foreign`: nothing. `take-over`: the other cluster stopped or was overruled;
 * otherwise as `ours`.
 */
export type HeartbeatPlan =
  | { kind: 'ours'; carrier: Reservation | undefined }
  /** `heartbeatMs`: a live original writes its next heartbeat within this time. */
  | { kind: 'observe'; heartbeatMs: number }
  | { kind: 'foreign'; heartbeats: string[]; isAlive: boolean }
  | { kind: 'take-over'; heartbeats: string[]; why: TakeOverReason; carrier: Reservation | undefined }

/** A person confirmed it, our own machine wrote the heartbeat, or no cluster writes another one. */
export type TakeOverReason = 'confirmed' | 'ours' | 'gone'

/** After this many intervals without a change, the other cluster counts as stopped. */
const goneIntervals = 3
/** How many intervals a new leader observes: a live original has written its next heartbeat by then. */
const observedIntervals = 1.2

/**
 * Decides whether this cluster is the only one that uses its id. Pure.
 *
 * | the heartbeats of our reservations | and                                            | plan      |
 * | ---------------------------------- | ---------------------------------------------- | --------- |
 * | one is not ours                    | a person has confirmed that this cluster is it | take-over |
 * | one is not ours                    | it changed since we saw it first               | foreign   |
 * | one is not ours                    | a machine of this cluster is its witness       | take-over |
 * | one is not ours                    | it did not change for three intervals          | take-over |
 * | one is not ours                    | otherwise                                      | foreign   |
 * | all are ours, or there is none     | we had stopped, without a confirmation         | foreign   |
 * | all are ours, or there is none     | we wrote one, but this leader has just begun   | observe   |
 * | all are ours, or there is none     | otherwise                                      | ours      |
 */
export function planHeartbeat(seen: HeartbeatSeen): HeartbeatPlan {
  const { entries, watched, witnessed, intervalMs } = seen
  const { heartbeats, foreign, confirmed } = entries
  const shown = heartbeatsOf(seen)
  const strange = strangeHeartbeats(seen)
  const longestMs = Math.max(intervalMs, ...shown.map(intervalOf))
  if (strange.length > 0 || foreign !== undefined) {
    const overruled = strange.length > 0 ? strange : [foreign ?? '']
    if (confirmed !== undefined && confirmed === (foreign ?? strange[0])) {
      return { kind: 'take-over', heartbeats: overruled, why: 'confirmed', carrier: carrierOf(seen) }
    }
    const isChanged = watched !== undefined && watched.heartbeats !== heartbeatsText(strange)
    const isAlive = entries.isAlive || isChanged || strange.length === 0
    const isOurs = strange.every((heartbeat) => witnessed.includes(heartbeat))
    const isGone = watched !== undefined && watched.forMs >= goneIntervals * longestMs
    if (!isAlive && (isOurs || isGone)) {
      return { kind: 'take-over', heartbeats: strange, why: isOurs ? 'ours' : 'gone', carrier: carrierOf(seen) }
    }
    return { kind: 'foreign', heartbeats: overruled, isAlive }
  }
  const hasCarrier = carrierOf(seen) !== undefined
  const heartbeatMs = observedIntervals * longestMs
  if (hasCarrier && heartbeats.length > 0 && seen.observedMs < heartbeatMs) return { kind: 'observe', heartbeatMs }
  return { kind: 'ours', carrier: carrierOf(seen) }
}

/** The foreign heartbeats of a plan as a text, to detect a change. */
export function heartbeatsText(heartbeats: string[]): string {
  return heartbeats.toSorted().join()
}

/** The heartbeats that are not ours. */
export function strangeHeartbeats({
  entries: { heartbeats, former },
  ...seen
}: Pick<HeartbeatSeen, 'reservations' | 'scheme' | 'entries'>): string[] {
  return heartbeatsOf(seen).filter((heartbeat) => !heartbeats.includes(heartbeat) && !former.includes(heartbeat))
}

/** A new heartbeat. */
export function makeHeartbeat(
  nonce: string,
  { intervalMs, witness }: { intervalMs: number; witness: string | undefined },
): string {
  return [nonce, Math.ceil(intervalMs / 1000), ...(witness === undefined ? [] : [witness])].join('.')
}

/** The machine that a heartbeat names. */
export function witnessOf(heartbeat: string): string | undefined {
  return heartbeat.split('.')[2]
}

/**
 * How often the cluster that wrote a heartbeat writes one. A copy with a shorter interval would otherwise not wait long
 * enough.
 */
function intervalOf(heartbeat: string): number {
  const seconds = Number(heartbeat.split('.')[1])
  return seconds > 0 ? seconds * 1000 : 0
}

/** The heartbeats on reservations with our id. */
export function heartbeatsOf({ reservations, scheme }: Pick<HeartbeatSeen, 'reservations' | 'scheme'>): string[] {
  const ours = reservations.filter(({ marks }) => marks['cluster'] === scheme.cluster)
  return [...new Set(ours.flatMap(({ marks }) => marks[heartbeatMark] ?? []))]
}

/**
 * The reservation that carries the heartbeat: the current carrier, else the oldest. A Service must hold it: its marks
 * no longer change then, so two writers never undo each other's change.
 */
function carrierOf({ reservations, scheme }: HeartbeatSeen): Reservation | undefined {
  const able = reservations.filter(
    ({ marks, state }) => marks['cluster'] === scheme.cluster && marks['service'] !== undefined && state === 'reserved',
  )
  const order = ({ marks, createdAt = '', id }: Reservation) =>
    `${marks[heartbeatMark] === undefined ? 1 : 0} ${createdAt} ${id}`
  return able.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))[0]
}
