import type { Reservation, MarkScheme } from '../../clouds/ports/cloud.ts'
import { signMark } from '../record/marks.ts'

/*
 * A copy of a cluster, restored from a backup, has the same id: its sweep would release what the original uses. So each
 * sweep writes a new sign on one reservation, the carrier, and keeps its last signs in the cluster. A cluster that finds a
 * sign there that it did not write is not alone.
 */

/** The entries of the ledger's ConfigMap about signs. */
export type SignEntries = {
  /** The last signs that we wrote, the newest last. */
  signs: string[]
  /** The first sign of another cluster, since we stopped because of it. */
  foreign: string | undefined
  /** The other cluster has written a second sign since. */
  isAlive: boolean
  /** A leader that had to wait with releases has not come to an end with that. */
  hasWaited: boolean
  /** Signs of clusters that no longer exist or that a person has overruled. */
  former: string[]
  /** The last `foreign` that is over: the other cluster stopped, was ourselves, or a person has overruled it. */
  overruled: string | undefined
  /** The sign that a person overrules. */
  confirmed: string | undefined
}

export type SignSeen = {
  reservations: Reservation[]
  scheme: MarkScheme
  entries: SignEntries
  /** How long ago this leader first saw one of our signs, or none. */
  observedMs: number
  /** The foreign signs that the last sweep saw, and how long they have not changed. */
  watched: { signs: string; forMs: number } | undefined
  /** The foreign signs that name a machine which serves this cluster. */
  witnessed: readonly string[]
  intervalMs: number
}

/**
 * The work that a sweep may do. `ours`: everything, after it has written the next sign on the carrier. `observe`:
 * everything but release, and it writes no sign. `foreign`: nothing. `take-over`: the other cluster stopped or was
 * overruled; then as `ours`.
 */
export type SignPlan =
  | { kind: 'ours'; carrier: Reservation | undefined }
  /** `signMs`: in this time an original that lives writes its next sign. */
  | { kind: 'observe'; signMs: number }
  | { kind: 'foreign'; signs: string[]; isAlive: boolean }
  | { kind: 'take-over'; signs: string[]; why: TakeOverReason; carrier: Reservation | undefined }

/** A person says so, our own machine wrote the sign, or no cluster writes another one. */
export type TakeOverReason = 'confirmed' | 'ours' | 'gone'

/** The number of intervals without a change after which the other cluster counts as stopped. */
const goneIntervals = 3
/** For how many intervals a new leader observes: an original that lives has written its next sign by then. */
const observedIntervals = 1.2

/**
 * Decides whether this cluster is the only one that uses its id. Pure.
 *
 * | the signs of our reservations  | and                                             | plan      |
 * | ------------------------------ | ----------------------------------------------- | --------- |
 * | one is not ours                | a person has confirmed that this cluster is it  | take-over |
 * | one is not ours                | it changed since we saw it first                | foreign   |
 * | one is not ours                | a machine of this cluster is its witness        | take-over |
 * | one is not ours                | it did not change for three intervals           | take-over |
 * | one is not ours                | otherwise                                       | foreign   |
 * | all are ours, or there is none | we had stopped, without a confirmation          | foreign   |
 * | all are ours, or there is none | we signed before, but this leader has just begun | observe  |
 * | all are ours, or there is none | otherwise                                       | ours      |
 */
export function planSign(seen: SignSeen): SignPlan {
  const { entries, watched, witnessed, intervalMs } = seen
  const { signs, foreign, confirmed } = entries
  const shown = signsOf(seen)
  const strange = strangeSigns(seen)
  const longestMs = Math.max(intervalMs, ...shown.map(intervalOf))
  if (strange.length > 0 || foreign !== undefined) {
    const overruled = strange.length > 0 ? strange : [foreign ?? '']
    if (confirmed !== undefined && confirmed === (foreign ?? strange[0])) {
      return { kind: 'take-over', signs: overruled, why: 'confirmed', carrier: carrierOf(seen) }
    }
    const isChanged = watched !== undefined && watched.signs !== signsText(strange)
    const isAlive = entries.isAlive || isChanged || strange.length === 0
    const isOurs = strange.every((sign) => witnessed.includes(sign))
    const isGone = watched !== undefined && watched.forMs >= goneIntervals * longestMs
    if (!isAlive && (isOurs || isGone)) {
      return { kind: 'take-over', signs: strange, why: isOurs ? 'ours' : 'gone', carrier: carrierOf(seen) }
    }
    return { kind: 'foreign', signs: overruled, isAlive }
  }
  const hasCarrier = carrierOf(seen) !== undefined
  const signMs = observedIntervals * longestMs
  if (hasCarrier && signs.length > 0 && seen.observedMs < signMs) return { kind: 'observe', signMs }
  return { kind: 'ours', carrier: carrierOf(seen) }
}

/** The foreign signs of a plan as one text, to notice a change. */
export function signsText(signs: string[]): string {
  return signs.toSorted().join()
}

/** The signs that are not ours. */
export function strangeSigns({
  entries: { signs, former },
  ...seen
}: Pick<SignSeen, 'reservations' | 'scheme' | 'entries'>): string[] {
  return signsOf(seen).filter((sign) => !signs.includes(sign) && !former.includes(sign))
}

/** A new sign. */
export function makeSign(
  nonce: string,
  { intervalMs, witness }: { intervalMs: number; witness: string | undefined },
): string {
  return [nonce, Math.ceil(intervalMs / 1000), ...(witness === undefined ? [] : [witness])].join('.')
}

/** The machine that a sign names. */
export function witnessOf(sign: string): string | undefined {
  return sign.split('.')[2]
}

/**
 * How often the cluster that wrote a sign writes one. Without it a copy that sweeps more often would not wait long enough.
 */
function intervalOf(sign: string): number {
  const seconds = Number(sign.split('.')[1])
  return seconds > 0 ? seconds * 1000 : 0
}

/** The signs on reservations of our id. */
export function signsOf({ reservations, scheme }: Pick<SignSeen, 'reservations' | 'scheme'>): string[] {
  const ours = reservations.filter(({ marks }) => marks['cluster'] === scheme.cluster)
  return [...new Set(ours.flatMap(({ marks }) => marks[signMark] ?? []))]
}

/**
 * The reservation that carries the sign: the one that does already, else the oldest. Only one that a Service holds: its
 * marks do not change any more, so two writers never undo each other's change.
 */
function carrierOf({ reservations, scheme }: SignSeen): Reservation | undefined {
  const able = reservations.filter(
    ({ marks, state }) => marks['cluster'] === scheme.cluster && marks['service'] !== undefined && state === 'reserved',
  )
  const order = ({ marks, createdAt = '', id }: Reservation) =>
    `${marks[signMark] === undefined ? 1 : 0} ${createdAt} ${id}`
  return able.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))[0]
}
