import {
  type AssignedAddress,
  type Assignments,
  type MoveOptions,
  leastWriteMs,
} from '../../clouds/ports/assignments.ts'
import { CloudError } from '../../clouds/ports/cloud.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { type MoveAttempts, moveAttempts } from './move-attempts.ts'
import type { Decision, MoveReason, Pause, Refusal } from './move-plan.ts'
import { retryAfterOf } from './retry-after.ts'
import { type Refusals, isRefusal, refusals } from './refusals.ts'

/** An address that routes to one machine, as the cloud shows it. */
export type MovableAddress = Pick<AssignedAddress, 'id' | 'address' | 'machines'> &
  Partial<Pick<AssignedAddress, 'marks'>>

export type Move = Extract<Decision, { do: 'move' }>

/** A move that was tried and whose result the cloud has not shown yet. */
export type TriedMove = Move & { from: MovableAddress; beganAtMs: number }

export type Mover = {
  /**
   * Tries a move; later tries wait. `postponed`: too many calls came before it, so that nothing was changed or refused.
   * After `unclear` only a look at the cloud tells where the address leads.
   */
  attempt(move: Move, assigned: MovableAddress, writeMs: () => number): Promise<'done' | 'postponed' | 'unclear'>
  /** The last attempt, until `settle`. */
  tried(): TriedMove | undefined
  /** The cloud shows that the move happened. */
  settle(): void
  /** Another guardian may have moved the address since the last attempt. */
  forget(): void
  /** Why a move for this reason still waits; undefined if it need not. */
  pause(reason: MoveReason): Pause | undefined
  /** The machines that the cloud refused lately, or on which moves failed again and again. */
  refused(): ReadonlyMap<string, Refusal>
}

export type MoverOptions = {
  /** The name of the address, for the log. */
  what: string
  /** Makes an address route to this machine and to no other. A next call continues where one stopped. */
  assign: Assignments['move']
  cooldownMs: number
  clock: Clock
  log: Log
  onAttempt: (move: Move, error: string | undefined) => void
  /** Those that it shares with other addresses. */
  refused?: Refusals
}

/** A move is a few calls with time-outs of their own. */
const attemptTimeoutMs = 30_000

/** Carries out moves, one at a time. */
export function mover(options: MoverOptions): Mover {
  const { what, clock, log, onAttempt } = options
  const { refused = refusals(clock) } = options
  const attempts = moveAttempts(options)
  let tried: TriedMove | undefined

  return {
    async attempt(move, assigned, writeMs) {
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
        fail({ ...options, refused, attempts }, { move, error, right })
        onAttempt(move, errorText(error))
        return isPostponed(error) ? 'postponed' : 'unclear'
      }
    },
    tried: () => tried,
    settle() {
      if (tried) refused.remove(tried.to.machine)
      if (tried) attempts.settle(tried.reason)
      tried = undefined
    },
    forget: () => void (tried = undefined),
    pause: (reason) => attempts.pause(reason),
    refused: () => refused.current(),
  }
}

type Failing = Pick<MoverOptions, 'what' | 'log'> & { refused: Refusals; attempts: MoveAttempts }

function fail(
  { what, log, refused, attempts }: Failing,
  { move: { to }, error, right }: { move: Move; error: unknown; right: Right },
): void {
  const text = errorText(error)
  log.warn({ to: to.name, error: text }, `the move of ${what} failed; looking again`)
  // A move that this process might not complete says nothing of the machine.
  if (!right.isHeldBack()) refused.add(to.machine, error)
  if (isPostponed(error)) attempts.postponed(text)
  // Another machine need not wait for what was said of this one.
  else if (!isRefusal(error)) attempts.failed(text, retryAfterOf(error))
}

/** The right to write during a move, and whether it was ever denied. */
type Right = Pick<MoveOptions, 'writeMs'> & { isHeldBack: () => boolean }

function rightToWrite(writeMs: () => number): Right {
  let isHeldBack = false
  return {
    writeMs() {
      const ms = writeMs()
      isHeldBack ||= ms < leastWriteMs
      return ms
    },
    isHeldBack: () => isHeldBack,
  }
}

/** The rest of an earlier try. After half a move the address is at no machine, and only that try knows why. */
function begunBefore(tried: TriedMove | undefined, { id, machines }: MovableAddress): Partial<TriedMove> {
  if (tried === undefined) return {}
  const { from, reason, why, beganAtMs } = tried
  return machines.length === 0 && from.id === id ? { from, reason, why, beganAtMs } : { beganAtMs }
}

/** The cloud allows fewer calls than wait for their turn. Its client spreads them, so this one need not wait long. */
function isPostponed(error: unknown): boolean {
  if (!(error instanceof CloudError) || error.outcome !== 'nothing') return false
  return error.fault === 'rate-limit' && error.retryAfterMs === undefined
}

/** A process that has to stop still completes what it began: half a move is an outage. */
function assignInTime(
  { assign }: Pick<MoverOptions, 'assign'>,
  target: Parameters<Assignments['move']>[0],
  writeMs: () => number,
): Promise<void> {
  const timeoutError = () => new Error(`the move did not end within ${attemptTimeoutMs} ms`)
  return withTimeLimit({ ms: attemptTimeoutMs, timeoutError }, (signal) => assign(target, { signal, writeMs }))
}
