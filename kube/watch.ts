import type { IncomingMessage } from 'node:http'
import { refusalInWatch, unreachable } from './answer.ts'
import { KubeError } from './errors.ts'
import type { Http } from './http.ts'
import type { KubeObject } from './objects.ts'
import { type Resource, pathOf } from './resource.ts'

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** Nothing happened up to here. */
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }

export type WatchOptions = {
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  /** What happened after this is told. */
  resourceVersion: string
  /** When the server is to end the watch by itself. */
  timeoutMs?: number | undefined
  /** How much later than that we end it, because the server has gone silent. */
  graceMs?: number | undefined
}

export type Watcher = {
  /**
   * Events in their order, over a connection of its own. It ends by itself at the time-out and when the signal aborts;
   * a refusal, a broken connection, silence and an unreadable line throw a KubeError.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>>
}

/** A quiet kind's first bookmark comes after two minutes, so silence alone proves nothing before the time-out. */
const usualTimeoutMs = 290_000
const usualGraceMs = 15_000
const answerMs = 30_000
const maxCharacters = 8 * 1024 * 1024

/** Watches over HTTP. */
export function watcher(http: Http): Watcher {
  return {
    async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions, signal: AbortSignal) {
      if (signal.aborted) return
      const call = watchCall(resource, options)
      const ends = new AbortController()
      const abort = () => ends.abort()
      signal.addEventListener('abort', abort, { once: true })
      const silent = () => ends.abort(silence(call.what))
      let timer = setTimeout(silent, answerMs)
      try {
        const response = await http.open(call, ends.signal)
        clearTimeout(timer)
        timer = setTimeout(silent, (options.timeoutMs ?? usualTimeoutMs) + (options.graceMs ?? usualGraceMs))
        for await (const line of linesOf(call.what, response)) yield parseEvent<T>(call.what, line)
      } catch (error) {
        if (signal.aborted) return
        ends.signal.throwIfAborted()
        throw error instanceof KubeError ? error : unreachable(call.what, error)
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

function watchCall<T extends KubeObject>(resource: Resource<T>, options: WatchOptions) {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutMs = usualTimeoutMs } = options
  const timeoutSeconds = Math.ceil(timeoutMs / 1000)
  return {
    what: `watch ${resource.kind}${namespace === undefined ? '' : ` in ${namespace}`}`,
    method: 'GET' as const,
    path: pathOf(resource, { namespace }),
    query: { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector, fieldSelector },
    idempotent: true,
  }
}

async function* linesOf(what: string, response: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
    if (rest.length > maxCharacters) throw unreadable(what, 'an event has no end')
  }
  if (rest !== '') throw unreadable(what, 'it ended in the middle of an event')
}

function parseEvent<T extends KubeObject>(what: string, line: string): WatchEvent<T> {
  const event = parseLine(what, line)
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as WatchEvent<T>
    case 'ERROR':
      throw refusalInWatch(what, event.object)
    default:
      throw unreadable(what, 'an event of no known type')
  }
}

function parseLine(what: string, line: string): { type?: unknown; object?: unknown } {
  try {
    return Object(JSON.parse(line)) as object
  } catch {
    throw unreadable(what, 'a line that is not JSON')
  }
}

function silence(what: string): KubeError {
  return new KubeError(`${what}: the API server has gone silent`, { status: 0, reason: 'Timeout' })
}

function unreadable(what: string, why: string): KubeError {
  return new KubeError(`${what}: ${why}`, { status: 200, reason: 'Unreadable' })
}
