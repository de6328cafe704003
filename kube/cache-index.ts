import { type Key, type KubeObject, keyOf } from './objects.ts'
import type { Reflector } from './reflector.ts'

/** The objects of a cache that have a value. */
export type CacheIndex<T> = { of(value: string): T[] }

/** Keeps a cache findable by other values than its keys. It has to be made before the cache starts. */
export function indexCache<T extends KubeObject>(
  cache: Pick<Reflector<T>, 'onChange'>,
  valuesOf: (object: T) => string[],
): CacheIndex<T> {
  const found = new Map<string, Map<Key, T>>()
  cache.onChange((key, current, previous) => {
    for (const value of previous ? valuesOf(previous) : []) {
      const objects = found.get(value)
      objects?.delete(key)
      if (objects?.size === 0) found.delete(value)
    }
    for (const value of current ? valuesOf(current) : []) {
      found.set(value, (found.get(value) ?? new Map<Key, T>()).set(keyOf(current as T), current as T))
    }
  })
  return { of: (value) => [...(found.get(value)?.values() ?? [])] }
}
