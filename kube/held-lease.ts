import { type ClockReading, elapsedMs, readClocks } from '../lib/clock-reading.ts'
import type { Clock } from './clock.ts'

/** A lease that we hold, from its claim until it is lost or released. */
export type HeldLease = {
  /** Aborts when the lease is lost, and when the leader has to stop. */
  readonly signal: AbortSignal
  /** Whether the lease is certainly ours, by both clocks as they are now. */
  isHeld(): boolean
  /** How long it stays ours without another renewal. */
  leftMs(): number
  /** Records a renewal by the time at which its call was sent. It has no effect if the lease was lost meanwhile. */
  renewed(sentAt: ClockReading): void
  /** Makes the leader stop while the lease is still ours. */
  stop(): void
  /** Records that the lease is no longer ours. */
  lose(reason: string): void
  /** Ends the lease after the leader has stopped. From then on it cannot be lost. */
  close(): void
}

export type HeldLeaseOptions = { clock: Clock; renewDeadlineMs: number; onLoss: (reason: string) => void }

/** A lease whose claim was sent at that time. */
export function holdLease(sentAt: ClockReading, { clock, renewDeadlineMs, onLoss }: HeldLeaseOptions): HeldLease {
  const stopping = new AbortController()
  let isOver = false
  let renewedAt = sentAt

  const leftMs = () => renewDeadlineMs - elapsedMs(renewedAt, readClocks(clock))
  const isHeld = () => !isOver && leftMs() > 0
  return {
    signal: stopping.signal,
    isHeld,
    leftMs,
    renewed(at) {
      if (isHeld()) renewedAt = at
    },
    stop: () => stopping.abort(),
    lose(reason) {
      if (isOver) return
      isOver = true
      onLoss(reason)
      stopping.abort()
    },
    close: () => void (isOver = true),
  }
}
