import type { Clock } from './clock.ts'

/** A moment on both clocks. */
export type Moment = { ms: number; date: number }

/** The time in which we lead. */
export type HeldLease = {
  /** Aborts when the lease is lost, and when the leader is asked to stop. */
  readonly signal: AbortSignal
  /** Whether the lease is surely ours, as the clocks stand now. */
  isHeld(): boolean
  /** How long it is ours without a further renewal. */
  leftMs(): number
  /** The lease was renewed by a call that was sent at that moment; it counts only if the lease was ours all the time. */
  renewed(sent: Moment): void
  /** Asks the leader to stop while the lease is still ours. */
  stop(): void
  lose(why: string): void
  /** The leader has stopped; what was not lost by now is not lost any more. */
  close(): void
}

export type HeldLeaseOptions = { clock: Clock; renewDeadlineMs: number; onLoss: (why: string) => void }

/** The moment that it is. */
export function moment(clock: Clock): Moment {
  return { ms: clock.now(), date: clock.date().getTime() }
}

/** A term that begins with a claim sent at that moment. */
export function holdLease(sent: Moment, { clock, renewDeadlineMs, onLoss }: HeldLeaseOptions): HeldLease {
  const stopping = new AbortController()
  let isOver = false
  let renewedAt = sent

  const leftMs = () => renewDeadlineMs - elapsedMs(renewedAt, moment(clock))
  const isHeld = () => !isOver && leftMs() > 0
  return {
    signal: stopping.signal,
    isHeld,
    leftMs,
    renewed(at) {
      if (isHeld()) renewedAt = at
    },
    stop: () => stopping.abort(),
    lose(why) {
      if (isOver) return
      isOver = true
      onLoss(why)
      stopping.abort()
    },
    close: () => void (isOver = true),
  }
}

/** By the clock that went further: one stands still while a machine is suspended, the other can be set back. */
function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.ms - from.ms, to.date - from.date)
}
