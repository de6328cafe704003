import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../kube/clock.ts'

export type FakeClock = Clock & {
  /** Advances the time. Every sleep ends at its time, in order. */
  pass(ms: number): Promise<void>
  /** Advances the time of a frozen process: no sleep ends. */
  freeze(ms: number): void
  /** Advances the date alone, as in a suspended machine. */
  suspend(ms: number): void
}

export function fakeClock(): FakeClock {
  const sleepers = new Set<{ dueMs: number; wake: () => void }>()
  let nowMs = 1_000
  let dateMs = Date.parse('2026-01-02T03:04:05.678Z')
  const go = (ms: number) => {
    nowMs += ms
    dateMs += ms
  }

  return {
    now: () => nowMs,
    date: () => new Date(dateMs),
    async sleep(ms, signal) {
      if (signal?.aborted) return
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const sleeper = { dueMs: nowMs + Math.max(ms, 0), wake: () => resolve(undefined) }
      sleepers.add(sleeper)
      signal?.addEventListener('abort', resolve, { once: true })
      await promise
      sleepers.delete(sleeper)
      signal?.removeEventListener('abort', resolve)
    },
    async pass(ms) {
      const endMs = nowMs + ms
      await settle()
      for (;;) {
        const [next] = [...sleepers].sort((a, b) => a.dueMs - b.dueMs)
        if (next === undefined || next.dueMs > endMs) break
        go(Math.max(0, next.dueMs - nowMs))
        sleepers.delete(next)
        next.wake()
        await settle()
      }
      go(endMs - nowMs)
      await settle()
    },
    freeze: go,
    suspend: (ms) => void (dateMs += ms),
  }
}

/** Lets all woken tasks run to their next sleep. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn()
}
