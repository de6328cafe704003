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
   * the call on, even while `prepare` runs, which precedes the first key. `process` handles its own errors: if it
   * throws, the error is logged and counts as a failure of its key.
   */
  run(process: Process, signal: AbortSignal, prepare?: () => Promise<void>): Promise<void>
}

/** Makes an empty queue. */
export function queue(options: QueueOptions): Queue {
  const { concurrency = 1, clock = systemClock, log, observer } = options
  const keys = scheduledKeys(clock, observer)
  const { failed, forget, forgetAll } = retries(keys, options)
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
    forget,
    get length() {
      return keys.length
    },
    async run(process, signal, prepare) {
      keys.open()
      try {
        if (prepare) await prepare()
        keys.startDelays()
        await Promise.all(Array.from({ length: concurrency }, () => work(process, signal)))
      } finally {
        keys.close()
        forgetAll()
      }
    },
  }
}

/** The retries of keys, none at first. */
function retries(
  { addAfter }: Pick<ScheduledKeys, 'addAfter'>,
  { firstMs = 100, maxMs = 300_000, observer }: Pick<QueueOptions, 'firstMs' | 'maxMs' | 'observer'>,
): Pick<Queue, 'failed' | 'forget'> & { forgetAll: () => void } {
  const failures = new Map<Key, number>()
  return {
    failed(key) {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      const ms = backoffMs(count, { firstMs, maxMs })
      observer?.retried()
      addAfter(key, ms)
      return ms
    },
    forget: (key) => void failures.delete(key),
    forgetAll: () => failures.clear(),
  }
}

/** Pending keys, some of them with a delay. */
type ScheduledKeys = Omit<ObservedKeys, 'takeBack'> & {
  /** Adds the key after the delay. If a key has several delays, the shortest wins. */
  addAfter: (key: Key, ms: number) => void
  /** Delays every add of the key by this time, including one that arrived while the key was processed. */
  hold: (key: Key, ms: number) => void
  /** Starts the clock of the delays. */
  startDelays(): void
}

function scheduledKeys(clock: Clock, observer: Pick<QueueObserver, 'added' | 'waited'> | undefined): ScheduledKeys {
  const pending = observedKeys(clock, observer)
  const heldUntilMs = new Map<Key, number>()
  const add = (key: Key) => {
    const leftMs = (heldUntilMs.get(key) ?? 0) - clock.now()
    if (leftMs > 0) return delayed.addAfter(key, leftMs)
    heldUntilMs.delete(key)
    pending.add(key)
  }
  const delayed = delays(clock, add)
  return {
    add,
    addAfter: delayed.addAfter,
    hold(key, ms) {
      heldUntilMs.set(key, clock.now() + ms)
      if (pending.takeBack(key)) delayed.addAfter(key, ms)
    },
    next: (signal) => pending.next(signal),
    done: (key) => pending.done(key),
    get length() {
      return pending.length
    },
    open: () => pending.open(),
    startDelays: () => delayed.start(),
    close() {
      pending.close()
      delayed.stop()
      heldUntilMs.clear()
    },
  }
}

/** Keys with a time at which they are added. If a key has several, the earliest wins. */
type Delays = {
  addAfter: (key: Key, ms: number) => void
  start(): void
  /** Drops all delays. */
  stop(): void
}

/**
 * Calls `add` for each key at its time. Delays run only between `start` and `stop`, so that no timer keeps a process
 * alive that must end.
 */
function delays(clock: Clock, add: (key: Key) => void): Delays {
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
    addAfter(key, ms) {
      if (!isRunning) return
      const current = delayed.get(key)
      if (ms <= 0) add(key)
      else if (current === undefined || clock.now() + ms < current.dueMs) void wait(key, ms)
    },
    start() {
      isRunning = true
    },
    stop() {
      isRunning = false
      for (const { cancel } of delayed.values()) cancel.abort()
      delayed.clear()
    },
  }
}

/** Counts what happens in a queue. */
export type QueueObserver = {
  added(): void
  /** A key is retried after a failure. */
  retried(): void
  /** A key waited this long for a worker. */
  waited(ms: number): void
}

/** Pending keys, accepted only between `open` and `close`: keys added before or after are dropped. */
type ObservedKeys = PendingKeys & { open(): void; close(): void }

/** An empty set of pending keys that reports each add, and how long it waits. */
function observedKeys(clock: Clock, observer: Pick<QueueObserver, 'added' | 'waited'> | undefined): ObservedKeys {
  let pending: PendingKeys | undefined
  const addedAtMs = new Map<Key, number>()
  return {
    open() {
      pending = pendingKeys()
    },
    close() {
      pending = undefined
      addedAtMs.clear()
    },
    takeBack: (key) => pending?.takeBack(key) ?? false,
    done: (key) => pending?.done(key),
    get length() {
      return pending?.length ?? 0
    },
    add(key) {
      if (!pending) return
      observer?.added()
      if (!addedAtMs.has(key)) addedAtMs.set(key, clock.now())
      pending.add(key)
    },
    async next(signal) {
      const key = await pending?.next(signal)
      if (key === undefined) return undefined
      const nowMs = clock.now()
      observer?.waited(nowMs - (addedAtMs.get(key) ?? nowMs))
      addedAtMs.delete(key)
      return key
    },
  }
}

/** The keys of a work queue, like client-go's workqueue: each once, and never processed twice at a time. */
type PendingKeys = {
  add: (key: Key) => void
  /** Takes the first key off the queue and marks it as processing. Undefined once the signal has aborted. */
  next(signal: AbortSignal): Promise<Key | undefined>
  /** Undoes an add that arrived while the key was processed; returns whether there was one. */
  takeBack(key: Key): boolean
  /** Ends the processing of a key, and queues it again if it was added meanwhile. */
  done(key: Key): void
  /** The number of queued keys. */
  readonly length: number
}

function pendingKeys(): PendingKeys {
  const queue = new Set<Key>()
  const processing = new Set<Key>()
  /** Keys that were added during their processing. */
  const dirty = new Set<Key>()
  let wake = Promise.withResolvers<void>()

  const wakeWorkers = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const add = (key: Key) => {
    // The current processing may have missed the change that adds the key.
    if (processing.has(key)) dirty.add(key)
    else queue.add(key)
    wakeWorkers()
  }

  return {
    add,
    async next(signal) {
      // Each worker needs its own listener: the first worker to end would remove a shared one for all.
      const onAbort = () => wakeWorkers()
      signal.addEventListener('abort', onAbort, { once: true })
      while (queue.size === 0 && !signal.aborted) await wake.promise
      signal.removeEventListener('abort', onAbort)
      const [key] = queue
      if (key === undefined || signal.aborted) return undefined
      queue.delete(key)
      processing.add(key)
      return key
    },
    takeBack: (key) => dirty.delete(key),
    done(key) {
      processing.delete(key)
      if (dirty.delete(key)) add(key)
    },
    get length() {
      return queue.size
    },
  }
}
