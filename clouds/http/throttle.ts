import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'

/**
 * Spreads calls over time after the provider refused one as too many, or says that few are left. If it also says how
 * fast it allows further ones, that is the pace until more calls are left than wait.
 */
export type Throttle = {
  /** Waits for the turn of a call, the highest priority first; rejects with the reason of the signal. */
  turn(priority: number, signal: AbortSignal): Promise<void>
  /** Notes the result of a call that began at this time. */
  noteResult(result: 'accepted' | 'refused', beganAtMs: number): void
  /** Notes how much the provider says is left of its limit. Only moves may use the last calls. */
  noteQuota(quota: CallQuota): void
}

/** The calls left of a limit. `paceMs`: the time in which one more becomes available, if the provider states it. */
export type CallQuota = { left: number; limit: number; paceMs?: number | undefined }

/** From this priority on, calls may use what is reserved for moves. */
export const movePriority = 2

/** The share of the limit that is reserved for moves, and the pause between other calls while no more is left. */
const kept = { share: 0.2, pauseMs: 2_000 }

/** The pause between two calls after the first refusal, and the longest one. No vendor that we know allows fewer calls. */
const pausesMs = { first: 100, longest: 1_000 }
/** Each accepted call shortens the pause by this factor, while others wait for their turn. */
const easing = 0.95
const shortestMs = 25

/** Starts without a pause, so that no call waits. */
export function makeThrottle(): Throttle {
  const turns = new PQueue({ concurrency: 1 })
  const savers = new PQueue({ concurrency: 1 })
  let quota: CallQuota = { left: Infinity, limit: 0 }
  let pauseMs = 0
  let nextAtMs = -Infinity
  let slowedAtMs = -Infinity
  const leftMs = () => nextAtMs - performance.now()
  const isScarce = () => quota.left < kept.share * quota.limit
  const isEnough = () => (quota.paceMs === undefined ? turns.size === 0 : quota.left > turns.size)
  const cloudsPaceMs = () => (isEnough() ? undefined : quota.paceMs)
  return {
    async turn(priority, signal) {
      if (isScarce() && priority < movePriority)
        await savers.add(() => sleep(isScarce() ? kept.pauseMs : 0, undefined, { signal }), { priority, signal })
      if (pauseMs === 0) return
      const wait = async () => {
        // Another call may be refused meanwhile, which postpones this turn.
        for (let ms = leftMs(); ms > 0; ms = leftMs()) await sleep(ms, undefined, { signal })
        nextAtMs = performance.now() + pauseMs
      }
      await turns.add(wait, { priority, signal })
    },
    noteQuota: (told) => void (quota = told),
    noteResult(result, beganAtMs) {
      // A call from before the spreading says nothing about the current pace.
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
