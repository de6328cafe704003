import { EventEmitter, once } from 'node:events'
import { type Change, makeCache } from './cache.ts'
import { type Clock, systemClock } from './clock.ts'
import { type ListWatch, type Pace, type Sink, listAndWatch } from './list-watch.ts'
import type { Log } from './log.ts'
import type { Key, KubeObject, ObjectMeta } from './objects.ts'

export type ReflectorOptions<T extends KubeObject> = Pick<ListWatch<T>, 'client' | 'resource'> &
  ListWatch<T>['selection'] & {
    /** Takes more off an object than managedFields and the last-applied annotation, which go in any case. */
    strip?: (object: T) => T
    log: Log
    pace?: Partial<Pace>
    clock?: Clock
  }

export type Listener<T> = (key: Key, current: T | undefined, previous: T | undefined) => void

/** A copy of the objects of one kind that follows the API server. What it hands out is shared: read it, never change it. */
export type Reflector<T extends KubeObject> = {
  start(signal: AbortSignal): void
  /** Resolves when the first list is in; rejects when the signal aborts before that. */
  synced(signal?: AbortSignal): Promise<void>
  hasSynced(): boolean
  get(key: Key): T | undefined
  list(): T[]
  /** Tells every change from now on, the objects of the first list included. Deletes while we were away are told too. */
  onChange(listener: Listener<T>): void
  /** How long ago the API server was last heard. More than six minutes mean that we are cut off. */
  silentForMs(): number
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** Bookmarks of a quiet kind are two minutes apart, so a watch is ended only when the server should have ended it. */
const usualPace: Pace = {
  pageSize: 100,
  timeoutMs: 290_000,
  graceMs: 15_000,
  healthyMs: 5_000,
  firstMs: 500,
  maxMs: 30_000,
}

/** A reflector of the objects that the options select; it stands still until it is started. */
export function reflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock = systemClock, log, resource, client, pace } = options
  const cache = makeCache<T>()
  const listeners: Listener<T>[] = []
  const firstList = new EventEmitter()
  let hasSynced = false
  let heardAtMs = clock.now()

  const publish = (changes: Change<T>[]) => {
    for (const { key, current, previous } of changes)
      for (const listener of listeners) guarded(log, () => listener(key, current, previous))
  }
  const sink: Sink<T> = {
    strip: (object) => prepared(object, options.strip),
    replace(objects) {
      const changes = cache.replace(objects)
      log.debug({ kind: resource.kind, objects: objects.length, changes: changes.length }, 'listed')
      hasSynced = true
      firstList.emit('in')
      publish(changes)
    },
    put: (object) => publish(cache.put(object)),
    drop: (object) => publish(cache.drop(object)),
    heard: () => (heardAtMs = clock.now()),
  }
  const work = { client, resource, selection: selectionOf(options), sink, pace: { ...usualPace, ...pace }, clock, log }

  return {
    start: (signal) => void listAndWatch(work, signal),
    async synced(signal) {
      if (!hasSynced) await once(firstList, 'in', signal && { signal })
    },
    hasSynced: () => hasSynced,
    get: cache.get,
    list: cache.list,
    onChange: (listener) => void listeners.push(listener),
    silentForMs: () => clock.now() - heardAtMs,
  }
}

function selectionOf<T extends KubeObject>(options: ReflectorOptions<T>): ListWatch<T>['selection'] {
  const { namespace, labelSelector, fieldSelector } = options
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
}

/** An object as the cache keeps it: stripped, and frozen where a slip would be most tempting. */
function prepared<T extends KubeObject>(object: T, strip: ((object: T) => T) | undefined): T {
  const { metadata }: { metadata: ObjectMeta & { managedFields?: unknown } } = object
  delete metadata.managedFields
  delete metadata.annotations?.[lastApplied]
  const kept = strip === undefined ? object : strip(object)
  Object.freeze(kept.metadata)
  return Object.freeze(kept)
}

/** A listener's mistake is its own; the copy must go on following. */
function guarded(log: Log, listen: () => void): void {
  try {
    listen()
  } catch (error) {
    log.error({ error }, 'listener threw')
  }
}
