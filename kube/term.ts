import type { Clock } from './clock.ts'

/** A moment on both clocks. */
export type Moment = { ms: number; date: number }

/** The time in which we lead. */
export type Term = {
  /** Aborts when the term is lost, and when it is asked to end. */
  readonly signal: AbortSignal
  /** Whether the lease is surely ours, as the clocks stand now. */
  isHeld(): boolean
  /** How long it is ours without a further renewal. */
  leftMs(): number
  /** The lease was renewed by a call that was sent at that moment; too late if the term is lost already. */
  renewed(sent: Moment): void
  /** Asks the leader to stop while the lease is still ours. */
  end(): void
  lose(): void
}

/** The moment that it is. */
export function moment(clock: Clock): Moment {
  return { ms: clock.now(), date: clock.date().getTime() }
}

/** A term that begins with a claim sent at that moment. */
export function beginTerm(sent: Moment, { clock, renewDeadlineMs }: { clock: Clock; renewDeadlineMs: number }): Term {
  const ending = new AbortController()
  let lost = false
  let renewedAt = sent

  const leftMs = () => renewDeadlineMs - elapsedMs(renewedAt, moment(clock))
  const isHeld = () => !lost && leftMs() > 0
  return {
    signal: ending.signal,
    isHeld,
    leftMs,
    renewed(at) {
      if (isHeld()) renewedAt = at
    },
    end: () => ending.abort(),
    lose() {
      lost = true
      ending.abort()
    },
  }
}

/** By the clock that went further: one stands still while a machine is suspended, the other can be set back. */
function elapsedMs(from: Moment, to: Moment): number {
  return Math.max(to.ms - from.ms, to.date - from.date)
}
