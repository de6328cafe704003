import { setTimeout as sleep } from 'node:timers/promises'

const periodMs = 300

/** Looks until something is settled, or the time is over; returns what was seen last. */
export async function untilSettled<T>(waitMs: number, look: () => Promise<{ now: T; isSettled: boolean }>): Promise<T> {
  const endsAt = performance.now() + waitMs
  for (;;) {
    const { now, isSettled } = await look()
    if (isSettled || performance.now() >= endsAt) return now
    await sleep(periodMs)
  }
}
