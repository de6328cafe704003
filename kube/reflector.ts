import { EventEmitter, once } from 'node:events'
import { type ClockReading, elapsedMs, readClocks } from '../lib/time-limit.ts'
import { type Clock, systemClock } from './clock.ts'
import { listAndWatch, type ListWatch, type Pace, type Store } from './list-watch.ts'
import type { Log } from './log.ts'
import type { ManagedFieldsEntry } from './managed-fields.ts'
import { type Key, keyOf, type KubeObject, lastAppliedAnnotation, type ObjectMeta } from './objects.ts'

export type ReflectorOptions<T extends KubeObject> = Pick<ListWatch<T>, 'client' | 'resource'> &
  ListWatch<T>['selection'] & {
    /** Removes more from an object than managedFields and the last-applied annotation, which are always removed. */
    strip?: (object: T) => T
    /** Selects the managedFields to keep; none by default. */
    keepManagers?: (entries: readonly ManagedFieldsEntry[]) => ManagedFieldsEntry[]
    log: Log
    pace?: Partial<Pace>
    clock?: Clock
  }

export type Listener<T> = (key: Key, current: T | undefined, previous: T | undefined) => void

/**
 * A cache of the objects of one kind, kept current by a list and a watch. Callers share its objects and must not change
 * them. It is hand-written because client-node's informer ends at the first connection reset and drops unknown fields.
 */
export type Reflector<T extends KubeObject> = {
  /** Lists and watches until the signal aborts. Objects from an earlier start are kept, but are stale until the first list. */
  start(signal: AbortSignal): void
  /**
   * Lists and watches again, unless a list began less than `recentMs` ago. A silent watch may belong to a quiet kind,
   * or be broken. `synced` waits for the list; until then the cache keeps its content.
   */
  refresh(recentMs: number): void
  /** Resolves when no list is due or in progress; rejects if the signal aborts before. */
  synced(signal?: AbortSignal): Promise<void>
  /** Whether the first list of the last start has arrived. */
  hasSynced(): boolean
  get(key: Key): T | undefined
  list(): T[]
  /**
   * Whether the cache has this version of an object, or a later one. Then it also has every earlier write of the kind.
   * Waits up to `waitMs` for that.
   */
  hasReached(object: T, waitMs: number): Promise<boolean>
  /** Calls the listener at every later change: at the first list, and for deletions that no watch reported. */
  onChange(listener: Listener<T>): void
  /** The time since the API server's last response. After more than six minutes, the connection is lost. */
  silentForMs(): number
}

const defaultPace: Pace = { pageSize: 100, healthyMs: 5_000, firstMs: 500, maxMs: 30_000 }

/** A reflector of the objects that the options select. It sends nothing before `start`. */
export function reflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock = systemClock, log, resource, client, pace, namespace, labelSelector, fieldSelector } = options
  const cache = makeCache<T>()
  const listeners: Listener<T>[] = []
  const lists = successiveLists(clock, (signal) => void listAndWatch(deps, signal))
  const changed = new EventEmitter().setMaxListeners(0)
  let contactAtMs = clock.now()

  const notify = (changes: Change<T>[]) => {
    for (const { key, current, previous } of changes)
      for (const listener of listeners) callListener(log, () => listener(key, current, previous))
    changed.emit('change')
  }
  const store: Store<T> = {
    listing: () => lists.begin(),
    strip: (object) => prepare(object, options),
    replace(objects) {
      const changes = cache.replace(objects)
      log.debug({ kind: resource.kind, objects: objects.length, changes: changes.length }, 'listed')
      lists.arrive()
      notify(changes)
    },
    put: (object) => notify(cache.put(object)),
    drop: (object) => notify(cache.drop(object)),
    contact: () => (contactAtMs = clock.now()),
  }
  const selection = { namespace, labelSelector, fieldSelector }
  const deps = { client, resource, selection, store, pace: { ...defaultPace, ...pace }, clock, log }

  return {
    start: lists.start,
    refresh: lists.refresh,
    synced: lists.arrived,
    hasSynced: lists.hasFirst,
    get: cache.get,
    list: cache.list,
    hasReached: reached(cache.get, changed),
    onChange: (listener) => void listeners.push(listener),
    silentForMs: () => clock.now() - contactAtMs,
  }
}

/** Starts each list with its watch. Knows whether a list is due or in progress, and when the last one began. */
function successiveLists(clock: Clock, listAndWatchUntil: (signal: AbortSignal) => void) {
  const arrival = new EventEmitter().setMaxListeners(0)
  let [hasFirst, isAwaited] = [false, true]
  let begun: ClockReading | undefined
  let [started, current] = [AbortSignal.abort(), new AbortController()]
  const listAnew = () => {
    current.abort()
    current = new AbortController()
    listAndWatchUntil(AbortSignal.any([started, current.signal]))
  }
  // Uses both clocks: a machine that was suspended has missed the changes since.
  const isRecent = (ms: number) => begun !== undefined && elapsedMs(begun, readClocks(clock)) < ms
  return {
    start: (signal: AbortSignal) => {
      ;[started, hasFirst, isAwaited] = [signal, false, true]
      listAnew()
    },
    refresh: (recentMs: number) => {
      if (!started.aborted && !isRecent(recentMs)) listAnew()
    },
    begin() {
      isAwaited = true
      begun = readClocks(clock)
    },
    arrive() {
      ;[hasFirst, isAwaited] = [true, false]
      arrival.emit('list')
    },
    hasFirst: () => hasFirst,
    arrived: async (signal?: AbortSignal) => {
      if (isAwaited) await once(arrival, 'list', signal && { signal })
    },
  }
}

/** Waits, change by change, until the cache has an object in this version, or a later one. */
function reached<T extends KubeObject>(get: (key: Key) => T | undefined, changed: EventEmitter) {
  return async (object: T, waitMs: number): Promise<boolean> => {
    const signal = AbortSignal.timeout(waitMs)
    while (!isAtLeast(get(keyOf(object)), object)) {
      if (signal.aborted) return false
      await once(changed, 'change', { signal }).catch(() => undefined)
    }
    return true
  }
}

/** The resource versions of a kind are numbers that grow with each write (Kubernetes API conventions, since 1.35). */
function isAtLeast(stored: KubeObject | undefined, { metadata }: KubeObject): boolean {
  const [has = '', wants = ''] = [stored?.metadata.resourceVersion, metadata.resourceVersion]
  if (has === wants) return has !== ''
  return /^\d+$/.test(has) && /^\d+$/.test(wants) && BigInt(has) > BigInt(wants)
}

/** An object as cached: stripped, and frozen at the levels that callers most easily change by mistake. */
function prepare<T extends KubeObject>(
  object: T,
  { strip, keepManagers }: Pick<ReflectorOptions<T>, 'strip' | 'keepManagers'>,
): T {
  const { metadata }: { metadata: ObjectMeta } = object
  const kept = keepManagers?.(metadata.managedFields ?? []) ?? []
  if (kept.length > 0) metadata.managedFields = kept
  else delete metadata.managedFields
  delete metadata.annotations?.[lastAppliedAnnotation]
  const stripped = strip === undefined ? object : strip(object)
  Object.freeze(stripped.metadata)
  return Object.freeze(stripped)
}

/** Calls a listener. Its error must not stop the reflector. */
function callListener(log: Log, call: () => void): void {
  try {
    call()
  } catch (error) {
    log.error({ error }, 'listener threw')
  }
}

/** A change of a key: its object was added, changed or deleted. */
export type Change<T> = { key: Key; current: T | undefined; previous: T | undefined }

/**
 * The objects last seen, by key; none at first. Each write returns the changes that it made, so a write that changes
 * nothing returns none.
 */
export function makeCache<T extends KubeObject>() {
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
    get: (key: Key) => objects.get(key),
    list: () => [...objects.values()],
    put,
    drop: (object: T) => remove(keyOf(object)),
    /** Replaces all objects: the others were deleted while no watch was open. */
    replace(listed: T[]) {
      const present = new Set(listed.map(keyOf))
      const deleted = [...objects.keys()].filter((key) => !present.has(key))
      return [...deleted.flatMap(remove), ...listed.flatMap(put)]
    },
  }
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}

/** The objects of a cache with a given value. */
export type CacheIndex<T> = { of(value: string): T[] }

/** Indexes a cache by values other than its keys. It must be made before the cache starts. */
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
