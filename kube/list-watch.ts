import { type Backoff, backoffMs } from '../lib/backoff.ts'
import type { KubeClient, ListOptions } from './client.ts'
import type { Clock } from './clock.ts'
import { KubeError, isGone } from './errors.ts'
import type { Log } from './log.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'
import type { WatchEvent, Watcher } from './watch.ts'

/** Where the objects go. */
export type Sink<T> = {
  /** Every object passes here as soon as it was read, so that no page is kept at its full size. */
  strip(object: T): T
  /** These are all there are. */
  replace(objects: T[]): void
  put(object: T): void
  drop(object: T): void
  /** The API server was heard. */
  heard(): void
}

export type Pace = Backoff & {
  pageSize: number
  timeoutMs: number
  graceMs: number
  /** A watch that ends sooner counts as a failure. */
  healthyMs: number
}

/** What listing and watching of one kind needs. */
export type ListWatch<T extends KubeObject> = {
  client: Pick<KubeClient, 'list'> & Watcher
  resource: Resource<T>
  selection: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>
  sink: Sink<T>
  pace: Pace
  clock: Clock
  log: Log
}

/** The resource version that the sink is true for, and what went wrong since a watch last went well. */
type Progress = { version: string | undefined; failures: number; wasGone: boolean }

type End = { watchedMs: number; error: unknown }

/** Keeps the sink true until the signal aborts, whatever the API server and the network do meanwhile. */
export async function listAndWatch<T extends KubeObject>(work: ListWatch<T>, signal: AbortSignal): Promise<void> {
  const progress: Progress = { version: undefined, failures: 0, wasGone: false }
  while (!signal.aborted) {
    const end = await listThenWatch(work, progress, signal)
    if (signal.aborted) return
    const waitMs = waitAfter(end, progress, work.pace)
    tell(work, { ...end, failures: progress.failures, waitMs })
    await work.clock.sleep(waitMs, signal)
  }
}

/** A list where one is needed, then a watch for as long as it lasts. */
async function listThenWatch<T extends KubeObject>(
  work: ListWatch<T>,
  progress: Progress,
  signal: AbortSignal,
): Promise<End> {
  let watchingSince = Infinity
  let error: unknown
  try {
    progress.version ??= await listAll(work, signal)
    watchingSince = work.clock.now()
    await watchFrom(progress.version, { work, progress, signal })
  } catch (thrown) {
    error = thrown
  }
  return { watchedMs: Math.max(0, work.clock.now() - watchingSince), error }
}

async function listAll<T extends KubeObject>(work: ListWatch<T>, signal: AbortSignal): Promise<string> {
  const { client, resource, selection, sink, pace } = work
  const objects: T[] = []
  let more: { continue?: string } = {}
  for (;;) {
    const page = await client.list(resource, { ...selection, ...more, limit: pace.pageSize, signal })
    sink.heard()
    objects.push(...page.items.map((item) => sink.strip(item)))
    if (!page.metadata.continue) {
      sink.replace(objects)
      return page.metadata.resourceVersion
    }
    more = { continue: page.metadata.continue }
  }
}

async function watchFrom<T extends KubeObject>(
  resourceVersion: string,
  { work, progress, signal }: { work: ListWatch<T>; progress: Progress; signal: AbortSignal },
): Promise<void> {
  const { client, resource, selection, sink, pace } = work
  const { timeoutMs, graceMs } = pace
  const options = { ...selection, resourceVersion, timeoutMs, graceMs }
  for await (const event of client.watch(resource, options, signal)) {
    sink.heard()
    take(event, sink)
    progress.version = event.object.metadata.resourceVersion ?? progress.version
  }
}

function take<T extends KubeObject>(event: WatchEvent<T>, sink: Sink<T>): void {
  if (event.type === 'BOOKMARK') return
  if (event.type === 'DELETED') sink.drop(event.object)
  else sink.put(sink.strip(event.object))
}

/** How long to stay away after a list or watch ended; sets back what is to be begun anew. */
function waitAfter({ watchedMs, error }: End, progress: Progress, pace: Pace): number {
  const healthy = watchedMs >= pace.healthyMs
  if (healthy) Object.assign(progress, { failures: 0, wasGone: false })
  if (healthy && error === undefined) return 0
  progress.failures += 1
  if (isGone(error)) {
    // Every other failure keeps the version: the server still knows what happened since, and a list costs it dear.
    progress.version = undefined
    const isFirst = !progress.wasGone
    progress.wasGone = true
    if (isFirst) return 0
  }
  const askedMs = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(askedMs, backoffMs(progress.failures, pace))
}

/** One broken connection is the life of a watch; a person should know of more. */
function tell<T extends KubeObject>(
  { log, resource }: ListWatch<T>,
  { error, failures, ...facts }: End & { failures: number; waitMs: number },
): void {
  const fields = { kind: resource.kind, ...facts, failures, ...(error instanceof Error && { error: error.message }) }
  if (failures > 1) log.warn(fields, 'watch broken')
  else log.debug(fields, 'watch ended')
}
