import { type Key, type KubeObject, keyOf } from './objects.ts'

/** One change of a key: its object was added, changed or deleted. */
export type Change<T> = { key: Key; current: T | undefined; previous: T | undefined }

/** The objects last seen, by key. Each write returns the changes that it made; a write without a difference returns none. */
export type Cache<T> = {
  get: (key: Key) => T | undefined
  list: () => T[]
  put(object: T): Change<T>[]
  drop(object: T): Change<T>[]
  /** Makes these the only objects: all others in the cache were deleted while no watch was open. */
  replace(objects: T[]): Change<T>[]
}

/** An empty cache. */
export function makeCache<T extends KubeObject>(): Cache<T> {
  const objects = new Map<Key, T>()

  const put = (object: T): Change<T>[] => {
    const key = keyOf(object)
    const previous = objects.get(key)
    if (previous !== undefined && isSame(previous, object)) return []
    objects.set(key, object)
    return [{ key, current: object, previous }]
  }
  const remove = (key: Key): Change<T>[] => {
    const previous = objects.get(key)
    return objects.delete(key) ? [{ key, current: undefined, previous }] : []
  }

  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    put,
    drop: (object) => remove(keyOf(object)),
    replace(listed) {
      const present = new Set(listed.map(keyOf))
      const deleted = [...objects.keys()].filter((key) => !present.has(key))
      return [...deleted.flatMap(remove), ...listed.flatMap(put)]
    },
  }
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}
