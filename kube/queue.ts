import { type Backoff, backoffMs } from '../lib/repeat.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Log } from './log.ts'
import type { Key } from './objects.ts'

export type QueueOptions = Partial<Backoff> & {
  /** The maximum number of keys in process at the same time. */
  concurrency?: number
  log: Log
  clock?: Clock
  observer?: QueueObserver
}

/** Counts what happens in a queue. */
type QueueObserver = {
  added(): void
  /** A key is retried after a failure. */
  retried(): void
  /** A key waited this long for a worker. */
  waited(ms: number): void
}

export type Process = (key: Key, signal: AbortSignal) => Promise<void>

/**
 * A work queue of keys, like client-go's workqueue. It contains a key at most once, however often it is added, and never
 * has a key processed twice at a time. It is hand-written because client-node has no queue, and p-queue has no keys.
 */
export type Queue = {
  /** Adds the key. A queue that does not run drops it: its controller adds all keys when it starts. */
  add(key: Key): void
  /** Adds the key after the delay, which also passes while keys are processed. A key's shortest delay wins. */
  addAfter(key: Key, ms: number): void
  /** Adds the key after a back-off that doubles with each consecutive failure. Returns the back-off in ms. */
  failed(key: Key): number
  /** Delays every add of the key by this time, including one that arrived while the key was processed. */
  hold(key: Key, ms: number): void
  /** Resets the failures of a key after a success. */
  forget(key: Key): void
  /** The number of keys that wait for a free worker. */
  readonly length: number
  /**
   * Processes keys until the signal aborts, then waits for those in process and drops the rest. Keys are accepted from
   * the call on, even while `prepare` runs, which precedes the first key. `addAfter` drops keys until it has ended.
   * `process` handles its own errors: if it throws, the error is logged and counts as a failure of its key.
   */
  run(process: Process, signal: AbortSignal, prepare?: () => Promise<void>): Promise<void>
}

/** Makes an empty queue. */
export function queue(options: QueueOptions): Queue {
  const { concurrency = 1, clock = systemClock, log, observer } = options
  const pending = pendingKeys(clock, observer)
  const heldUntilMs = new Map<Key, number>()
  const add = (key: Key) => {
    const leftMs = (heldUntilMs.get(key) ?? 0) - clock.now()
    if (leftMs > 0) return delayed.addAfter(key, leftMs)
    heldUntilMs.delete(key)
    pending.add(key)
  }
  const delayed = delayedKeys(clock, add)
  const retrying = retries(delayed, options)

  return {
    add,
    addAfter: (key, ms) => delayed.addAfter(key, ms),
    failed: (key) => retrying.failed(key),
    hold(key, ms) {
      heldUntilMs.set(key, clock.now() + ms)
      if (pending.takeBack(key)) delayed.addAfter(key, ms)
    },
    forget: (key) => retrying.forget(key),
    get length() {
      return pending.count()
    },
    async run(process, signal, prepare) {
      pending.open()
      try {
        if (prepare) await prepare()
        delayed.start()
        const workers = Array.from({ length: concurrency }, () => work({ pending, retrying, log }, process, signal))
        await Promise.all(workers)
      } finally {
        pending.close()
        delayed.stop()
        heldUntilMs.clear()
        retrying.forgetAll()
      }
    },
  }
}

type Work = {
  pending: ReturnType<typeof pendingKeys>
  retrying: ReturnType<typeof retries>
  log: Log
}

/** Processes one key after another until the signal aborts. */
async function work({ pending, retrying, log }: Work, process: Process, signal: AbortSignal): Promise<void> {
  for (let key = await pending.next(signal); key !== undefined; key = await pending.next(signal)) {
    try {
      await process(key, signal)
    } catch (error) {
      if (!signal.aborted) log.error({ key, err: error, againInMs: retrying.failed(key) }, 'processing threw')
    }
    pending.done(key)
  }
}

/** The retries of keys, none at first. */
function retries(
  { addAfter }: Pick<Queue, 'addAfter'>,
  { firstMs = 100, maxMs = 300_000, observer }: Pick<QueueOptions, 'firstMs' | 'maxMs' | 'observer'>,
) {
  const failures = new Map<Key, number>()
  return {
    failed(key: Key) {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      const ms = backoffMs(count, { firstMs, maxMs })
      observer?.retried()
      addAfter(key, ms)
      return ms
    },
    forget: (key: Key) => void failures.delete(key),
    forgetAll: () => failures.clear(),
  }
}

/**
 * Calls `add` for each key at its time; if a key has several, at the earliest. Delays run only between `start` and
 * `stop`, so that no timer keeps a process alive that must end.
 */
function delayedKeys(clock: Clock, add: (key: Key) => void) {
  const delayed = new Map<Key, { dueMs: number; cancel: AbortController }>()
  let isRunning = false

  const wait = async (key: Key, ms: number) => {
    const cancel = new AbortController()
    delayed.get(key)?.cancel.abort()
    delayed.set(key, { dueMs: clock.now() + ms, cancel })
    await clock.sleep(ms, cancel.signal)
    if (cancel.signal.aborted) return
    delayed.delete(key)
    add(key)
  }

  return {
    addAfter(key: Key, ms: number) {
      if (!isRunning) return
      const current = delayed.get(key)
      if (ms <= 0) add(key)
      else if (current === undefined || clock.now() + ms < current.dueMs) void wait(key, ms)
    },
    start: () => void (isRunning = true),
    stop() {
      isRunning = false
      for (const { cancel } of delayed.values()) cancel.abort()
      delayed.clear()
    },
  }
}

/**
 * The keys that wait for a worker, accepted only between `open` and `close`. A key that is added while it is processed
 * waits until that has ended, because the processing may have missed the change.
 */
function pendingKeys(clock: Clock, observer: QueueObserver | undefined) {
  /** When each key was added that waits for a worker, and each that waits for the end of its processing. */
  const [waiting, dirty] = [new Map<Key, number>(), new Map<Key, number>()]
  const processing = new Set<Key>()
  const workers = sleepingWorkers()
  let isOpen = false

  return {
    open: () => void (isOpen = true),
    close() {
      isOpen = false
      waiting.clear()
    },
    add(key: Key) {
      if (!isOpen) return
      observer?.added()
      const added = processing.has(key) ? dirty : waiting
      added.set(key, added.get(key) ?? clock.now())
      workers.wake()
    },
    /** Takes the first key off the queue and marks it as processing. Undefined once the signal has aborted. */
    async next(signal: AbortSignal): Promise<Key | undefined> {
      // A key wakes all workers, and only one gets it. So nothing is awaited from this check until the key is marked.
      while (waiting.size === 0 && !signal.aborted) await workers.sleep(signal)
      const [first] = waiting
      if (first === undefined || signal.aborted) return undefined
      const [key, addedAtMs] = first
      waiting.delete(key)
      processing.add(key)
      observer?.waited(clock.now() - addedAtMs)
      return key
    },
    /** Undoes an add that arrived while the key was processed; returns whether there was one. */
    takeBack: (key: Key) => dirty.delete(key),
    /** Ends the processing of a key, which waits for a worker again if it was added meanwhile. */
    done(key: Key) {
      processing.delete(key)
      const addedAtMs = dirty.get(key)
      if (addedAtMs === undefined) return
      dirty.delete(key)
      waiting.set(key, addedAtMs)
      workers.wake()
    },
    count: () => waiting.size,
  }
}

/** Lets workers sleep until there may be a key for them, but not beyond the signal. */
function sleepingWorkers() {
  let awake = Promise.withResolvers<void>()
  const wake = () => {
    awake.resolve()
    awake = Promise.withResolvers()
  }
  return {
    wake,
    async sleep(signal: AbortSignal): Promise<void> {
      // Each worker needs its own listener: the first worker to end would remove a shared one for all.
      const onAbort = () => wake()
      signal.addEventListener('abort', onAbort, { once: true })
      await awake.promise
      signal.removeEventListener('abort', onAbort)
    },
  }
}
