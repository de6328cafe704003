import type { Key } from './objects.ts'

/** Keys in the order of their arrival, each there once, and none in work twice at the same time. */
export type PendingKeys = {
  add: (key: Key) => void
  /** The key whose turn it is, from now on in work; undefined once the signal has aborted. */
  next(signal: AbortSignal): Promise<Key | undefined>
  /** The key is in work no more, and waits again if it was added meanwhile. */
  done(key: Key): void
  /** How many keys wait. */
  readonly length: number
}

/** No keys yet. */
export function pendingKeys(): PendingKeys {
  const waiting = new Set<Key>()
  const inWork = new Set<Key>()
  const again = new Set<Key>()
  let bell = Promise.withResolvers<void>()

  const ring = () => {
    bell.resolve()
    bell = Promise.withResolvers()
  }
  const add = (key: Key) => {
    // A change that comes while its key is in work may be one that the work did not see.
    if (inWork.has(key)) again.add(key)
    else waiting.add(key)
    ring()
  }

  return {
    add,
    async next(signal) {
      // A listener of its own: one that several share is taken off for all of them by the first that goes.
      const heard = () => ring()
      signal.addEventListener('abort', heard, { once: true })
      while (waiting.size === 0 && !signal.aborted) await bell.promise
      signal.removeEventListener('abort', heard)
      const [key] = waiting
      if (key === undefined || signal.aborted) return undefined
      waiting.delete(key)
      inWork.add(key)
      return key
    },
    done(key) {
      inWork.delete(key)
      if (again.delete(key)) add(key)
    },
    get length() {
      return waiting.size
    },
  }
}
