import { applyCall, createCall, getCall, listCall, patchCall, removeCall, replaceCall } from './calls.ts'
import type { CallOptions, KubeClient, List } from './client.ts'
import type { Credentials } from './credentials.ts'
import { type Discovery, discovery } from './discovery.ts'
import { KubeError, hasNoCredentials, isMissing, isNotFound, resultUnless } from './errors.ts'
import { type Call, http } from './http.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'
import { type Watcher, watcher } from './watch.ts'
import pRetry from 'p-retry'
import type { Log } from './log.ts'

export type ConnectOptions = {
  /** The user agent in the API server's logs and metrics: `eip-admission/1.2.3`. */
  userAgent: string
  /** The time-out of calls without their own, `defaultTimeoutMs` by default. */
  timeoutMs?: number
  /** How many calls, not counting watches, may be in progress; others wait. 32 by default. */
  maxConnections?: number
  /** Called after every call except watches. */
  observe?: (call: ObservedCall) => void
}

/** A call and its result: `ok` with the answer, or the API server's reason and message. */
export type ObservedCall = {
  call: string
  method: string
  result: string
  ms: number
  answer?: unknown
  message?: string
}

type Send = <T>(call: Call, options: CallOptions | undefined) => Promise<T>

/** How long a command waits for an answer of the API server: a person prefers a late answer to none. */
export const defaultTimeoutMs = 30_000

/** The client of the API server of these credentials. It sends nothing before the first call. */
export function connect(credentials: Credentials, options: ConnectOptions): KubeClient & Watcher & Discovery {
  const { userAgent, maxConnections } = options
  const transport = http({ credentials, userAgent, maxConnections })
  const defaultMs = options.timeoutMs ?? defaultTimeoutMs
  const send = async <T>(call: Call, { signal, timeoutMs = defaultMs }: CallOptions = {}) => {
    const startedAt = performance.now()
    const report = (result: string, more: Pick<ObservedCall, 'answer' | 'message'>) =>
      options.observe?.({
        call: call.name,
        method: call.method,
        result,
        ms: Math.round(performance.now() - startedAt),
        ...more,
      })
    try {
      const answer = (await transport.call(call, { signal, timeoutMs })) as T
      report('ok', { answer })
      return answer
    } catch (error) {
      const [result, message] = error instanceof KubeError ? [error.reason, error.message] : ['aborted', undefined]
      report(result, message === undefined ? {} : { message })
      throw error
    }
  }
  return { ...verbs(send), ...watcher(transport), ...discovery(send) }
}

function verbs(send: Send): KubeClient {
  return {
    // A 404 for the kind itself still throws, because it does not say whether the object exists.
    get: async (resource, at, options) => resultUnless(isMissing, send(getCall(resource, at), options)),
    list: async (resource, options = {}) => withTypes(resource, await send(listCall(resource, options), options)),
    create: async (resource, object, options = {}) => send(createCall(resource, object, options), options),
    replace: async (resource, object, options = {}) => send(replaceCall(resource, object, options), options),
    patch: async (resource, target, options = {}) => send(patchCall(resource, target, options), options),
    apply: async (resource, object, options) => send(applyCall(resource, object, options), options),
    async remove(resource, target, options = {}) {
      await resultUnless(isNotFound, send(removeCall(resource, target, options), options))
    },
  }
}

/** In a list of built-in kinds, the API server omits apiVersion and kind from the items. */
function withTypes<T extends KubeObject>({ apiVersion, kind }: Resource<T>, page: List<T>): List<T> {
  return { ...page, items: page.items.map((item) => ({ ...item, apiVersion, kind })) }
}

/** The log's words for the awaited answer. */
export type Waiting = { what: string; log: Log; signal: AbortSignal }

/** Retries a read until the API server answers it. Missing credentials fail at once, because waiting cannot help. */
export function retryUntilAnswered<T>(read: () => Promise<T>, { what, log, signal }: Waiting): Promise<T> {
  return pRetry(read, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 200,
    maxTimeout: 10_000,
    signal,
    shouldRetry: ({ error }) => !hasNoCredentials(error),
    onFailedAttempt: ({ error }) => log.warn({ error: error.message }, `waiting for ${what}`),
  })
}
