import type { Key } from './objects.ts'

/** The keys of a work queue, as client-go's workqueue keeps them: each once, and never processed twice at a time. */
export type PendingKeys = {
  add: (key: Key) => void
  /** Takes the first key off the queue and marks it as processing. Undefined once the signal has aborted. */
  next(signal: AbortSignal): Promise<Key | undefined>
  /** Takes back that a key was added while it was processing; returns whether it was. */
  takeBack(key: Key): boolean
  /** Ends the processing of a key, and queues it again if it was added meanwhile. */
  done(key: Key): void
  /** The number of queued keys. */
  readonly length: number
}

/** An empty set of pending keys. */
export function pendingKeys(): PendingKeys {
  const queue = new Set<Key>()
  const processing = new Set<Key>()
  /** Keys that were added while they were processing. */
  const dirty = new Set<Key>()
  let wake = Promise.withResolvers<void>()

  const wakeWorkers = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const add = (key: Key) => {
    // The processing under way may not have seen the change that adds the key.
    if (processing.has(key)) dirty.add(key)
    else queue.add(key)
    wakeWorkers()
  }

  return {
    add,
    async next(signal) {
      // Each worker needs its own listener: the first worker that ends removes a shared one for all.
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
