/** A map that forgets old entries, so that it stays small without deletes. */
export type ShortMemory<K, V> = {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): void
  readonly size: number
}

/** Makes an empty memory. Each set forgets the entries older than `keptMs`. */
export function shortMemory<K, V>({
  keptMs,
  monotonicMs,
}: {
  keptMs: number
  monotonicMs: () => number
}): ShortMemory<K, V> {
  const entries = new Map<K, { value: V; setAtMs: number }>()
  const forgetOld = (nowMs: number) => {
    for (const [key, { setAtMs }] of entries) {
      if (setAtMs + keptMs > nowMs) return
      entries.delete(key)
    }
  }
  return {
    get: (key) => entries.get(key)?.value,
    has: (key) => entries.has(key),
    set(key, value) {
      const setAtMs = monotonicMs()
      forgetOld(setAtMs)
      // A key that is set again moves to the end, as the newest.
      entries.delete(key)
      entries.set(key, { value, setAtMs })
    },
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size
    },
  }
}
