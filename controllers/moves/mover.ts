import { type AssignedAddress, type Assignments, leastWriteMs } from '../../clouds/ports/assignments.ts'
import { CloudError } from '../../clouds/ports/cloud.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import { errorText } from '../loop/reconcile-key.ts'
import type { Decision, MoveReason, Pause } from './move-plan.ts'
import { retryAfterOf, type Refusals, isRefusal, refusals } from './refusals.ts'
import { backoffMs } from '../../lib/repeat.ts'

/** An address that routes to one machine, as the provider shows it. */
export type MovableAddress = Pick<AssignedAddress, 'id' | 'address' | 'machines'> &
  Partial<Pick<AssignedAddress, 'marks'>>

export type Move = Extract<Decision, { do: 'move' }>

/** A move that was tried, but whose result the provider has not shown yet. */
export type TriedMove = Move & { from: MovableAddress; beganAtMs: number }

export type MoverOptions = {
  /** The log's word for the address. */
  what: string
  /** Routes an address to this machine and to no other. A later call continues where one stopped. */
  assign: Assignments['move']
  cooldownMs: number
  clock: Clock
  log: Log
  onAttempt?: (move: Move, error: string | undefined) => void
  /** The refusals that are shared with other addresses. */
  refused?: Refusals
}

/** A move is a few calls with their own time-outs. */
const attemptTimeoutMs = 30_000

/** Executes moves, one at a time. */
export function mover(options: MoverOptions) {
  const { what, clock, log, onAttempt = () => {}, refused = refusals(clock) } = options
  const attempts = moveAttempts(options)
  let tried: TriedMove | undefined
  const fail = (machine: string, error: unknown, wasHeldBack: boolean) => {
    // A move that this process was not allowed to complete says nothing about the machine.
    if (!wasHeldBack) refused.add(machine, error)
    if (isPostponed(error)) return attempts.postponed(errorText(error))
    // Another machine need not wait because of this machine's refusal.
    if (!isRefusal(error)) attempts.failed(errorText(error), retryAfterOf(error))
  }
  return {
    /**
     * Tries a move; later tries wait. `postponed`: too many calls came first, so nothing was changed or refused. After
     * `unclear`, only a look at the provider tells where the address routes.
     */
    async attempt(move: Move, assigned: MovableAddress, writeMs: () => number) {
      const { to, reason, why } = move
      tried = { ...move, from: assigned, beganAtMs: clock.now(), ...begunBefore(tried, assigned) }
      log.info({ address: assigned.address, to: to.name, reason, why }, `moving ${what}`)
      const right = rightToWrite(writeMs)
      try {
        const { machines: from, id, marks = {} } = assigned
        await assignInTime(options, { id, marks, machine: to.machine, from }, right.writeMs)
        attempts.succeeded()
        onAttempt(move, undefined)
        return 'done'
      } catch (error) {
        log.warn({ to: to.name, error: errorText(error) }, `the move of ${what} failed; looking again`)
        fail(to.machine, error, right.wasDenied())
        onAttempt(move, errorText(error))
        return isPostponed(error) ? 'postponed' : 'unclear'
      }
    },
    /** The last attempt, until `settle`. */
    tried: () => tried,
    /** Notes that the provider shows that the move happened. */
    settle() {
      if (tried) refused.remove(tried.to.machine)
      if (tried) attempts.settle(tried.reason)
      tried = undefined
    },
    /** Forgets the last attempt, because another guardian may have moved the address since. */
    forget: () => void (tried = undefined),
    /** Why a move for this reason must wait; undefined if it need not. */
    pause: (reason: MoveReason) => attempts.pause(reason),
    /** The machines that the provider refused lately, or on which moves failed repeatedly. */
    refused: () => refused.current(),
  }
}

/** The right to write during a move, and whether it was ever denied. */
function rightToWrite(writeMs: () => number) {
  let wasDenied = false
  return {
    writeMs: () => {
      const ms = writeMs()
      wasDenied ||= ms < leastWriteMs
      return ms
    },
    wasDenied: () => wasDenied,
  }
}

/** The rest of an earlier try. After half a move the address is at no machine, and only that try knows the reason. */
function begunBefore(tried: TriedMove | undefined, { id, machines }: MovableAddress): Partial<TriedMove> {
  if (tried === undefined) return {}
  const { from, reason, why, beganAtMs } = tried
  return machines.length === 0 && from.id === id ? { from, reason, why, beganAtMs } : { beganAtMs }
}

/** Whether the client's own queue was too long for the rate limit. It spreads the calls, so this one need not wait long. */
function isPostponed(error: unknown): boolean {
  if (!(error instanceof CloudError) || error.outcome !== 'nothing') return false
  return error.fault === 'rate-limit' && error.retryAfterMs === undefined
}

/** Assigns even while the process stops, because half a move is an outage. */
function assignInTime(
  { assign }: Pick<MoverOptions, 'assign'>,
  target: Parameters<Assignments['move']>[0],
  writeMs: () => number,
): Promise<void> {
  const timeoutError = () => new Error(`the move did not end within ${attemptTimeoutMs} ms`)
  return withTimeLimit({ ms: attemptTimeoutMs, timeoutError }, (signal) => assign(target, { signal, writeMs }))
}

const retry = { firstMs: 1_000, maxMs: 15_000 }
/** A hundred moves take their turns within seconds. If the provider refuses for longer, the pauses grow. */
const turn = { firstMs: 500, maxMs: 15_000 }
const patience = 10

/** Remembers moves and tries, none at first, and decides how long the next one waits. */
function moveAttempts({ cooldownMs, clock }: { cooldownMs: number; clock: Clock }) {
  /** The moves for facts and those for suspicions, each as many as matter. */
  let moves: PastMove[] = []
  /** Tries since the last move that the provider has shown. */
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
    /** `retryAfterMs` is the wait that the provider asked for. */
    failed(error: string, retryAfterMs: number) {
      tries += 1
      // The first failure is often a lost answer, which the next look resolves.
      const waitMs = tries > 1 ? backoffMs(tries - 1, retry) : 0
      waitFor(Math.max(waitMs, retryAfterMs), `the last attempt failed: ${error}`)
    },
    /** Notes that a try did not get its turn among many calls: the next one waits less than after a failure. */
    postponed(error: string) {
      postponements += 1
      waitFor(backoffMs(Math.ceil(postponements / patience), turn), `the last attempt failed: ${error}`)
    },
    /** Notes that the provider shows that the last try, for this reason, moved the address. */
    settle(reason: MoveReason) {
      tries = 0
      postponements = 0
      notBeforeMs = -Infinity
      moves = [...moves, { atMs: clock.now(), reason }].slice(-2 * rememberedMoves)
    },
    pause(reason: MoveReason): Pause | undefined {
      const nowMs = clock.now()
      const again = { ms: notBeforeMs - nowMs, why }
      const cool = { ms: movePauseMs(reason, { nowMs, moves, cooldownMs }), why: 'it has moved often recently' }
      const longer = again.ms > cool.ms ? again : cool
      return longer.ms > 0 ? longer : undefined
    },
  }
}

/** A move that the provider has shown. */
type PastMove = { atMs: number; reason: MoveReason }

type PauseFacts = {
  nowMs: number
  /** Earlier moves, oldest first. */
  moves: readonly PastMove[]
  cooldownMs: number
}

/** Older moves do not count, because the cluster has been stable since. */
const windowInCooldowns = 10
/** This many moves for hard reasons need no pause, because a rolling upgrade of three nodes needs them. */
const freeMoves = 3
const longestInCooldowns = 8

/** This many moves within this many cool-downs: more than rollouts need, and few enough for a project's rate limit. */
const pace = { moves: 10, cooldowns: 3 }

/** The maximum number of moves that decide a pause. */
const rememberedMoves = pace.moves

/**
 * How long a move must wait after earlier ones. If the holder is certainly bad, the first moves need not wait, and
 * later ones wait longer and longer. So the address of a cluster in trouble does not move in circles. A move for a fact
 * that the cluster or the provider states, rather than our probes, keeps a pace instead. Pure.
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

/** Whether the reason is a fact. An address at no machine, or at a node without endpoints, is certainly unreachable. */
function isFact(reason: MoveReason): boolean {
  return reason !== 'failed' && reason !== 'unreachable'
}
