import type { MoveReason } from './move-plan.ts'

/** A move that the cloud has shown. */
export type PastMove = { atMs: number; reason: MoveReason }

export type PauseFacts = {
  nowMs: number
  /** Earlier moves, the last one last. */
  moves: readonly PastMove[]
  cooldownMs: number
}

/** Older moves do not count: by then the cluster was at rest. */
const windowInCooldowns = 10
/** So many moves for hard reasons may follow each other at once: a rolling upgrade of three nodes needs them. */
const freeMoves = 3
const longestInCooldowns = 8

/** So many moves within so many cool-downs: more than rollouts need, and few enough for the calls that a project has. */
const pace = { moves: 10, cooldowns: 3 }

/** The most moves that decide about a pause. */
export const rememberedMoves = pace.moves

/**
 * How long a move still waits for the earlier ones. After a holder that is certainly bad, the first moves wait for
 * nothing and later ones ever longer. So the address of a cluster in trouble does not move in circles. A move for what
 * the cluster or the cloud itself says, and not our probes, keeps a pace instead. Pure.
 */
export function movePauseMs(reason: MoveReason, { nowMs, moves, cooldownMs }: PauseFacts): number {
  if (isFact(reason)) {
    const before = moves.filter((move) => isFact(move.reason)).at(-pace.moves)
    return before ? Math.max(0, before.atMs + pace.cooldowns * cooldownMs - nowMs) : 0
  }
  const recent = moves.filter((move) => !isFact(move.reason) && nowMs - move.atMs < windowInCooldowns * cooldownMs)
  const last = recent.at(-1)
  const doublings = recent.length - (reason === 'unreachable' ? 1 : freeMoves)
  if (!last || doublings < 0) return 0
  return Math.max(0, last.atMs + cooldownMs * Math.min(longestInCooldowns, 2 ** doublings) - nowMs)
}

/** An address at no machine, or at a node without endpoints, is unreachable: that is no suspicion. */
function isFact(reason: MoveReason): boolean {
  return reason !== 'failed' && reason !== 'unreachable'
}
