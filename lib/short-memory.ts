/** A map that forgets entries of a certain age, so that it stays small without deletes. */
export type ShortMemory<K, V> = {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): void
  values(): V[]
  readonly size: number
}

/** Makes an empty memory. It forgets an entry `keptMs` after the entry was last set. */
export function shortMemory<K, V>({
  keptMs,
  monotonicMs,
}: {
  keptMs: number
  monotonicMs: () => number
}): ShortMemory<K, V> {
  const entries = new Map<K, { value: V; setAtMs: number }>()
  const current = () => {
    const nowMs = monotonicMs()
    // The oldest entries come first.
    for (const [key, { setAtMs }] of entries) {
      if (setAtMs + keptMs > nowMs) break
      entries.delete(key)
    }
    return entries
  }
  return {
    get: (key) => current().get(key)?.value,
    has: (key) => current().has(key),
    set(key, value) {
      // A key that is set again moves to the end, as the newest.
      current().delete(key)
      entries.set(key, { value, setAtMs: monotonicMs() })
    },
    delete: (key) => void entries.delete(key),
    values: () => [...current().values()].map(({ value }) => value),
    get size() {
      return entries.size
    },
  }
}
