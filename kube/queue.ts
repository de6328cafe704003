import { type Backoff, backoffMs } from '../lib/backoff.ts'
import { type Clock, systemClock } from './clock.ts'
import { delays } from './delays.ts'
import type { Log } from './log.ts'
import type { Key } from './objects.ts'
import { pendingKeys } from './pending-keys.ts'

export type QueueOptions = Partial<Backoff> & {
  /** Keys that are processed at the same time at most. */
  concurrency?: number
  log: Log
  clock?: Clock
}

export type Process = (key: Key, signal: AbortSignal) => Promise<void>

/** Keys that wait for their turn. A key waits once however often it is added, and is never processed twice at once. */
export type Queue = {
  add(key: Key): void
  /**
   * Adds the key when the time is over; of several waits of one key the shortest counts. No time runs for a queue that
   * nobody runs: whoever begins to adds what there is.
   */
  addAfter(key: Key, ms: number): void
  /** Adds the key after a wait that doubles with every failure in a row, and says how long that is. */
  failed(key: Key): number
  /** The key is well: its next failure is its first. */
  forget(key: Key): void
  /** Keys that would be processed now if a worker were free. */
  readonly length: number
  /**
   * Processes keys until the signal aborts, then waits for those in work; what has not begun by then stays undone.
   * `process` judges its own errors: one that it throws is logged, and counts as a failure of its key.
   */
  run(process: Process, signal: AbortSignal): Promise<void>
}

/** An empty queue. */
export function queue(options: QueueOptions): Queue {
  const { concurrency = 1, firstMs = 100, maxMs = 300_000, clock = systemClock, log } = options
  const failures = new Map<Key, number>()
  const now = pendingKeys()
  const later = delays(clock, now.add)

  const failed = (key: Key) => {
    const count = (failures.get(key) ?? 0) + 1
    failures.set(key, count)
    const ms = backoffMs(count, { firstMs, maxMs })
    later.addAfter(key, ms)
    return ms
  }
  const work = async (process: Process, signal: AbortSignal) => {
    for (let key = await now.next(signal); key !== undefined; key = await now.next(signal)) {
      try {
        await process(key, signal)
      } catch (error) {
        if (!signal.aborted) log.error({ key, err: error, againInMs: failed(key) }, 'processing threw')
      }
      now.done(key)
    }
  }

  return {
    add: now.add,
    addAfter: later.addAfter,
    failed,
    forget: (key) => void failures.delete(key),
    get length() {
      return now.length
    },
    async run(process, signal) {
      later.start()
      await Promise.all(Array.from({ length: concurrency }, () => work(process, signal)))
      later.stop()
    },
  }
}
