import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { MoveReason, Pause } from './move-plan.ts'

/** Remembers moves and tries, and tells how long the next one waits. */
export type MoveAttempts = {
  succeeded(): void
  /** `retryAfterMs` is what the cloud asked for. */
  failed(error: string, retryAfterMs: number): void
  /** The try waited in vain for its turn among many calls: the next one waits less than after a failure. */
  postponed(error: string): void
  /** The cloud shows that the last try, for this reason, moved the address. */
  settle(reason: MoveReason): void
  pause(reason: MoveReason): Pause | undefined
}

const retry = { firstMs: 1_000, maxMs: 15_000 }
/** A hundred moves take their turns within seconds. A cloud that refuses for longer is not asked for ever. */
const turn = { firstMs: 500, maxMs: 15_000 }
const patience = 10

/** No move and no try so far. */
export function moveAttempts({ cooldownMs, clock }: { cooldownMs: number; clock: Clock }): MoveAttempts {
  /** For facts and for suspicions, each as many as count. */
  let moves: PastMove[] = []
  /** Since the last move that the cloud has shown. */
  let tries = 0
  let postponements = 0
  let [notBeforeMs, why] = [-Infinity, '']
  const waitFor = (ms: number, because: string) => {
    notBeforeMs = clock.now() + ms
    why = because
  }
  return {
    succeeded() {
      tries += 1
      waitFor(backoffMs(tries, retry), 'the provider does not show the last move yet')
    },
    failed(error, retryAfterMs) {
      tries += 1
      // The first failure is often a lost answer, and a look tells.
      const waitMs = tries > 1 ? backoffMs(tries - 1, retry) : 0
      waitFor(Math.max(waitMs, retryAfterMs), `the last try failed: ${error}`)
    },
    postponed(error) {
      postponements += 1
      waitFor(backoffMs(Math.ceil(postponements / patience), turn), `the last try failed: ${error}`)
    },
    settle(reason) {
      tries = 0
      postponements = 0
      notBeforeMs = -Infinity
      moves = [...moves, { atMs: clock.now(), reason }].slice(-2 * rememberedMoves)
    },
    pause(reason) {
      const nowMs = clock.now()
      const again = { ms: notBeforeMs - nowMs, why }
      const cool = { ms: movePauseMs(reason, { nowMs, moves, cooldownMs }), why: 'it moved often lately' }
      const longer = again.ms > cool.ms ? again : cool
      return longer.ms > 0 ? longer : undefined
    },
  }
}

/** A move that the cloud has shown. */
type PastMove = { atMs: number; reason: MoveReason }

type PauseFacts = {
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
const rememberedMoves = pace.moves

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
