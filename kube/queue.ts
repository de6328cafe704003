import { type Backoff, backoffMs } from '../lib/backoff.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Log } from './log.ts'
import type { Key } from './objects.ts'
import type { QueueObserver } from './observed-keys.ts'
import { scheduledKeys } from './scheduled-keys.ts'

export type QueueOptions = Partial<Backoff> & {
  /** The maximum number of keys that are processed at the same time. */
  concurrency?: number
  log: Log
  clock?: Clock
  observer?: QueueObserver
}

export type Process = (key: Key, signal: AbortSignal) => Promise<void>

/**
 * A work queue of keys, as client-go's workqueue. It holds a key once, however often it is added, and never has a key
 * processed twice at a time. By hand, because client-node has no queue, and p-queue knows no keys.
 */
export type Queue = {
  add(key: Key): void
  /**
   * Adds the key after the delay. If a key has several delays, the shortest counts. A queue that does not run drops
   * them: its controller adds all keys when it begins to run.
   */
  addAfter(key: Key, ms: number): void
  /** Adds the key after a back-off that doubles with each failure in a row. Returns the back-off in ms. */
  failed(key: Key): number
  /** Delays every add of the key by this time, also one that came while the key was processed. */
  hold(key: Key, ms: number): void
  /** Resets the failures of a key after a success. */
  forget(key: Key): void
  /** The number of keys that wait for a free worker. */
  readonly length: number
  /**
   * Processes keys until the signal aborts, then waits for those that are being processed; the rest stay queued.
   * `process` handles its own errors: one that it throws is logged, and counts as a failure of its key.
   */
  run(process: Process, signal: AbortSignal): Promise<void>
}

/** An empty queue. */
export function queue(options: QueueOptions): Queue {
  const { concurrency = 1, firstMs = 100, maxMs = 300_000, clock = systemClock, log, observer } = options
  const failures = new Map<Key, number>()
  const keys = scheduledKeys(clock, observer)

  const failed = (key: Key) => {
    const count = (failures.get(key) ?? 0) + 1
    failures.set(key, count)
    const ms = backoffMs(count, { firstMs, maxMs })
    observer?.retried()
    keys.addAfter(key, ms)
    return ms
  }
  const work = async (process: Process, signal: AbortSignal) => {
    for (let key = await keys.next(signal); key !== undefined; key = await keys.next(signal)) {
      try {
        await process(key, signal)
      } catch (error) {
        if (!signal.aborted) log.error({ key, err: error, againInMs: failed(key) }, 'processing threw')
      }
      keys.done(key)
    }
  }

  return {
    add: keys.add,
    addAfter: keys.addAfter,
    failed,
    hold: keys.hold,
    forget: (key) => void failures.delete(key),
    get length() {
      return keys.length
    },
    async run(process, signal) {
      keys.start()
      await Promise.all(Array.from({ length: concurrency }, () => work(process, signal)))
      keys.stop()
    },
  }
}
