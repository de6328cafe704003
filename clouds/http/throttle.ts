import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'

/**
 * Spreads calls over time when the cloud has refused one as too many, or says that few are left. Where it says how fast it
 * allows further ones, that is the pace until more are left than wait.
 */
export type Throttle = {
  /** Waits for the turn of a call, the highest priority first; rejects with the reason of the signal. */
  turn(priority: number, signal: AbortSignal): Promise<void>
  /** The result of a call that began at this time. */
  noteResult(result: 'accepted' | 'refused', beganAtMs: number): void
  /** How much the cloud says is left of its limit. Only moves may use the last calls. */
  noteQuota(quota: CallQuota): void
}

/** The calls that are left of a limit. `paceMs`: the time in which one more is allowed, where the cloud says so. */
export type CallQuota = { left: number; limit: number; paceMs?: number | undefined }

/** The priority from which on calls use what is kept for moves. */
export const movePriority = 2

/** The share of the limit that is kept for moves, and the pause between other calls while no more is left. */
const kept = { share: 0.2, pauseMs: 2_000 }

/** The pause between two calls after the first refusal, and the longest: no vendor that we know allows fewer calls. */
const pausesMs = { first: 100, longest: 1_000 }
/** Each accepted call makes the pause so much shorter, while others wait for their turn. */
const easing = 0.95
const shortestMs = 25

/** Nothing was refused yet: no call waits. */
export function makeThrottle(): Throttle {
  const turns = new PQueue({ concurrency: 1 })
  const savers = new PQueue({ concurrency: 1 })
  let quota: CallQuota = { left: Infinity, limit: 0 }
  let pauseMs = 0
  let nextAtMs = -Infinity
  let slowedAtMs = -Infinity
  const isScarce = () => quota.left < kept.share * quota.limit
  const isEnough = () => (quota.paceMs === undefined ? turns.size === 0 : quota.left > turns.size)
  const cloudsPaceMs = () => (isEnough() ? undefined : quota.paceMs)
  return {
    async turn(priority, signal) {
      if (isScarce() && priority < movePriority)
        await savers.add(() => sleep(isScarce() ? kept.pauseMs : 0, undefined, { signal }), { priority, signal })
      if (pauseMs === 0) return
      const wait = async () => {
        await sleep(Math.max(0, nextAtMs - performance.now()), undefined, { signal })
        nextAtMs = performance.now() + pauseMs
      }
      await turns.add(wait, { priority, signal })
    },
    noteQuota: (told) => void (quota = told),
    noteResult(result, beganAtMs) {
      // A call from before the spreading says nothing about the current spread.
      if (beganAtMs < slowedAtMs) return
      if (result === 'refused') {
        pauseMs = Math.min(pausesMs.longest, Math.max(cloudsPaceMs() ?? pausesMs.first, 2 * pauseMs))
        slowedAtMs = performance.now()
        nextAtMs = slowedAtMs + pauseMs
      } else if (isEnough()) pauseMs = 0
      else if (pauseMs > 0)
        pauseMs = Math.max(Math.min(pausesMs.longest, cloudsPaceMs() ?? shortestMs), easing * pauseMs)
    },
  }
}
