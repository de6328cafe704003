import type { MoveReason } from './move-plan.ts'

export type PauseFacts = {
  nowMs: number
  /** The times of earlier moves. */
  movedAtMs: readonly number[]
  cooldownMs: number
}

/** Older moves do not count: by then the cluster was at rest. */
const windowInCooldowns = 10
/** So many moves for hard reasons may follow each other at once: a rolling upgrade of three nodes needs them. */
const freeMoves = 3
const longestInCooldowns = 8

/**
 * How long a move still waits for the earlier ones. After a holder that is certainly bad, the first moves wait for
 * nothing and later ones ever longer. So the address of a cluster in trouble does not move in circles. Pure.
 */
export function movePauseMs(reason: MoveReason, { nowMs, movedAtMs, cooldownMs }: PauseFacts): number {
  const recent = movedAtMs.filter((at) => nowMs - at < windowInCooldowns * cooldownMs)
  const last = Math.max(...recent)
  // Nobody reaches an address that is assigned to no machine.
  if (reason === 'unassigned' || recent.length === 0) return 0
  const free = reason === 'unreachable' ? 1 : freeMoves
  const doublings = recent.length - free
  if (doublings < 0) return 0
  return Math.max(0, last + cooldownMs * Math.min(longestInCooldowns, 2 ** doublings) - nowMs)
}
