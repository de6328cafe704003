import { type Backoff, backoffMs } from '../lib/repeat.ts'
import type { KubeClient, ListOptions } from './client.ts'
import type { Clock } from './clock.ts'
import { KubeError, askedWaitMs, isGone } from './errors.ts'
import { pagesOf } from './list-all.ts'
import type { Log } from './log.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'
import type { WatchEvent, Watcher } from './watch.ts'

/** The copy of the objects that a list and a watch keep current. */
export type Store<T> = {
  /** Notes that a list starts: its content will be as new as this moment. */
  listing(): void
  /**
   * Drops the fields that the copy does not keep. Called as each object is read, so that no page stays in memory in
   * full.
   */
  strip(object: T): T
  /** Makes these the only objects. */
  replace(objects: T[]): void
  put(object: T): void
  drop(object: T): void
  /** Notes that the API server has answered. */
  contact(): void
}

export type Pace = Backoff & {
  pageSize: number
  /** When the server ends a watch, and after which silence we do; by default, those of a watch. */
  timeoutMs?: number
  silenceMs?: number
  /** A watch that ends sooner counts as a failure. */
  healthyMs: number
}

/** The dependencies of the list and the watch of one kind. */
export type ListWatch<T extends KubeObject> = {
  client: Pick<KubeClient, 'list'> & Watcher
  resource: Resource<T>
  selection: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>
  store: Store<T>
  pace: Pace
  clock: Clock
  log: Log
}

/** The resource version of the store, and the failures since the last healthy watch. */
type Progress = { version: string | undefined; failures: number; hasExpired: boolean; wasAway: boolean }

type WatchEnd = { watchedMs: number; error: unknown }

/** Keeps the store current until the signal aborts, whatever happens to the API server and the network. */
export async function listAndWatch<T extends KubeObject>(deps: ListWatch<T>, signal: AbortSignal): Promise<void> {
  const progress: Progress = { version: undefined, failures: 0, hasExpired: false, wasAway: false }
  while (!signal.aborted) {
    const end = await listThenWatch(deps, progress, signal)
    if (signal.aborted) return
    const waitMs = nextWaitMs(end, progress, deps.pace)
    logEnd(deps, { ...end, failures: progress.failures, waitMs })
    await deps.clock.sleep(waitMs, signal)
  }
}

/** Lists if the store has no version to watch from, then watches until the watch ends. */
async function listThenWatch<T extends KubeObject>(
  deps: ListWatch<T>,
  progress: Progress,
  signal: AbortSignal,
): Promise<WatchEnd> {
  let watchingSince = Infinity
  let error: unknown
  try {
    progress.version ??= await listPages(deps, signal)
    watchingSince = deps.clock.now()
    await watchFrom(progress.version, { deps, progress, signal })
  } catch (thrown) {
    error = thrown
  }
  return { watchedMs: Math.max(0, deps.clock.now() - watchingSince), error }
}

async function listPages<T extends KubeObject>(deps: ListWatch<T>, signal: AbortSignal): Promise<string> {
  const { client, resource, selection, store, pace } = deps
  const objects: T[] = []
  let version = ''
  store.listing()
  for await (const page of pagesOf(client, resource, { ...selection, limit: pace.pageSize, signal })) {
    store.contact()
    objects.push(...page.items.map((item) => store.strip(item)))
    version = page.metadata.resourceVersion
  }
  // A newer list may be in progress.
  signal.throwIfAborted()
  store.replace(objects)
  return version
}

async function watchFrom<T extends KubeObject>(
  resourceVersion: string,
  { deps, progress, signal }: { deps: ListWatch<T>; progress: Progress; signal: AbortSignal },
): Promise<void> {
  const { client, resource, selection, store, pace } = deps
  const { timeoutMs, silenceMs } = pace
  const options = { ...selection, resourceVersion, timeoutMs, silenceMs }
  for await (const event of client.watch(resource, options, signal)) {
    if (signal.aborted) return
    store.contact()
    applyEvent(event, store)
    progress.version = event.object.metadata.resourceVersion ?? progress.version
  }
}

function applyEvent<T extends KubeObject>(event: WatchEvent<T>, store: Store<T>): void {
  if (event.type === 'BOOKMARK') return
  if (event.type === 'DELETED') store.drop(event.object)
  else store.put(store.strip(event.object))
}

/** How long to wait after a list or a watch ended. Clears the version if only a new list helps. */
function nextWaitMs({ watchedMs, error }: WatchEnd, progress: Progress, pace: Pace): number {
  const isHealthy = watchedMs >= pace.healthyMs
  if (isHealthy) Object.assign(progress, { failures: 0, hasExpired: false, wasAway: false })
  if (isHealthy && error === undefined) return 0
  progress.failures += 1
  if (isGone(error)) {
    progress.version = undefined
    const isFirst = !progress.hasExpired
    progress.hasExpired = true
    if (isFirst) return 0
  }
  // After any other failure, the server still has the events since our version, while a list is expensive for it.
  progress.wasAway ||= error instanceof KubeError && (error.status === 0 || error.status >= 500)
  if (mayBeRestored(error, progress)) progress.version = undefined
  const askedMs = error instanceof KubeError ? (askedWaitMs(error) ?? 0) : 0
  return Math.max(askedMs, backoffMs(progress.failures, pace))
}

/**
 * Whether etcd may have been restored from a backup: the API server was away, or silent. A watch from a version that
 * the backup has not reached stays silent, and never reports what the backup lacks.
 */
function mayBeRestored(error: unknown, { wasAway, failures }: Progress): boolean {
  // A starting server refuses calls for a moment: its roles are not loaded, or its storage is not ready.
  return (error instanceof KubeError && error.reason === 'Timeout') || (wasAway && failures > 1)
}

/** A single broken connection is normal for a watch, but an operator should see several in a row. */
function logEnd<T extends KubeObject>(
  { log, resource }: ListWatch<T>,
  { error, failures, ...facts }: WatchEnd & { failures: number; waitMs: number },
): void {
  const fields = { kind: resource.kind, ...facts, failures, ...(error instanceof Error && { error: error.message }) }
  if (failures > 1) log.warn(fields, 'watch broken')
  else log.debug(fields, 'watch ended')
}
