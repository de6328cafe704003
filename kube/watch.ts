import type { IncomingMessage } from 'node:http'
import { KubeError } from './errors.ts'
import type { Http } from './http.ts'
import type { KubeObject } from './objects.ts'
import { type Resource, pathOf } from './resource.ts'
import { errorEventError, unreachableError } from './response.ts'

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** The copy is current up to this resource version. */
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }

export type WatchOptions = {
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  /** The watch sends the events after this version. */
  resourceVersion: string
  /** When the server ends the watch. */
  timeoutMs?: number | undefined
  /** After this long without an event or a bookmark, we end the watch: a proxy may keep a dead connection open. */
  silenceMs?: number | undefined
}

export type Watcher = {
  /**
   * Yields events in order, over its own connection. It ends at the time-out and when the signal aborts. An error
   * response, a broken connection, a silent server or an unreadable line throws a KubeError.
   */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>>
}

const defaultTimeoutMs = 290_000
/** Bookmarks of a quiet kind are two minutes apart. */
const defaultSilenceMs = 150_000
const responseTimeoutMs = 30_000
const maxCharacters = 8 * 1024 * 1024

/** Watches over HTTP. */
export function watcher(http: Http): Watcher {
  return {
    async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions, signal: AbortSignal) {
      if (signal.aborted) return
      const call = watchCall(resource, options)
      const ending = new AbortController()
      const abort = () => ending.abort()
      signal.addEventListener('abort', abort, { once: true })
      let timer: NodeJS.Timeout | undefined
      const allowSilence = (ms: number) => {
        clearTimeout(timer)
        timer = setTimeout(() => ending.abort(silenceError(call.name)), ms)
      }
      allowSilence(responseTimeoutMs)
      try {
        const response = await http.open(call, ending.signal)
        const { silenceMs = defaultSilenceMs } = options
        allowSilence(silenceMs)
        for await (const line of linesOf(call.name, response)) {
          allowSilence(silenceMs)
          yield parseEvent<T>(call.name, line)
        }
      } catch (error) {
        if (signal.aborted) return
        ending.signal.throwIfAborted()
        throw error instanceof KubeError ? error : unreachableError(call.name, error)
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

function watchCall<T extends KubeObject>(resource: Resource<T>, options: WatchOptions) {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutMs = defaultTimeoutMs } = options
  const timeoutSeconds = Math.ceil(timeoutMs / 1000)
  return {
    name: `watch ${resource.kind}${namespace === undefined ? '' : ` in ${namespace}`}`,
    method: 'GET' as const,
    path: pathOf(resource, { namespace }),
    query: { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector, fieldSelector },
    idempotent: true,
  }
}

async function* linesOf(call: string, response: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
    if (rest.length > maxCharacters) throw unreadableError(call, 'an event has no end')
  }
  if (rest !== '') throw unreadableError(call, 'it ended in the middle of an event')
}

function parseEvent<T extends KubeObject>(call: string, line: string): WatchEvent<T> {
  const event = parseLine(call, line)
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as WatchEvent<T>
    case 'ERROR':
      throw errorEventError(call, event.object)
    default:
      throw unreadableError(call, 'an event of no known type')
  }
}

function parseLine(call: string, line: string): { type?: unknown; object?: unknown } {
  try {
    return Object(JSON.parse(line)) as object
  } catch {
    throw unreadableError(call, 'a line that is not JSON')
  }
}

function silenceError(call: string): KubeError {
  return new KubeError(`${call}: the API server has gone silent`, { status: 0, reason: 'Timeout' })
}

function unreadableError(call: string, problem: string): KubeError {
  return new KubeError(`${call}: ${problem}`, { status: 200, reason: 'Unreadable' })
}
