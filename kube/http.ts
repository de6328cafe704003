import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Agents, agents } from './agents.ts'
import type { OnWarning } from './client.ts'
import type { Access, Credentials } from './credentials.ts'
import { KubeError } from './errors.ts'
import { withTimeLimit, untilAborted } from '../lib/time-limit.ts'
import { type KubeResponse, readResponse, responseError, unreachableError, warningsIn } from './response.ts'

export type Call = {
  /** The call's name in messages: `get Service default/web`. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: { type: string; value: object }
  onWarning?: OnWarning | undefined
  /** Whether the call may be sent twice. */
  idempotent: boolean
}

export type Limits = { timeoutMs: number; signal?: AbortSignal | undefined }

/** HTTP in the API server's conventions. Only this room sees it. */
export type Http = {
  /** Sends a call and returns the JSON of the response. A failure throws a KubeError, an abort the caller's own reason. */
  call(call: Call, limits: Limits): Promise<unknown>
  /** Opens a 200 response whose body is still to come, on its own connection. The signal ends it. */
  open(call: Call, signal: AbortSignal): Promise<IncomingMessage>
}

type HttpOptions = { credentials: Credentials; userAgent: string; maxConnections?: number | undefined }

type Transport = { credentials: Credentials; userAgent: string; agents: Agents }
type Deadline = { signal: AbortSignal; atMs: number }

const maxAttempts = 4

/** HTTP to the API server of the credentials. */
export function http(options: HttpOptions): Http {
  const transport = { ...options, agents: agents(options.maxConnections) }
  return {
    call: (call, limits) => withTimeout(call.name, limits, (deadline) => sendUntilAnswered(transport, call, deadline)),
    async open(call, signal) {
      const response = await sendWithCredentials(transport, call, { ownConnection: true, signal })
      if (response.statusCode === 200) return response
      throw responseError(call.name, await readResponse(call.name, response))
    },
  }
}

/** Sends a call. If the server requests a pause and the call may be repeated, sends it again. */
async function sendUntilAnswered(transport: Transport, call: Call, deadline: Deadline): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const message = await sendWithCredentials(transport, call, { ownConnection: false, signal: deadline.signal })
    const response = await readResponse(call.name, message)
    for (const text of warningsIn(message)) call.onWarning?.(text)
    if (response.status < 300) return response.body
    const error = responseError(call.name, response)
    const waitMs = retryDelayMs(call, response, error)
    if (waitMs === undefined || attempt === maxAttempts || performance.now() + waitMs >= deadline.atMs) throw error
    await sleep(waitMs, undefined, { signal: deadline.signal })
  }
}

/** A server that answers 429 has not started the call, so even a create is safe to repeat. */
function retryDelayMs(call: Call, { status }: KubeResponse, { retryAfterMs }: KubeError): number | undefined {
  return status === 429 || (call.idempotent && status === 503) ? retryAfterMs : undefined
}

/** Sends a request, and once more with fresh credentials if the server answers 401. */
async function sendWithCredentials(
  transport: Transport,
  call: Call,
  { ownConnection, signal }: { ownConnection: boolean; signal: AbortSignal },
): Promise<IncomingMessage> {
  const request = { ...requestOf(call, transport.userAgent), ownConnection, idempotent: call.idempotent }
  const access = await accessUntilAborted(call, transport.credentials.current(), signal)
  const response = await transport.agents.send(access, request, signal)
  if (response.statusCode !== 401) return response
  response.resume()
  const renewed = await accessUntilAborted(call, transport.credentials.renew(access), signal)
  return transport.agents.send(renewed, request, signal)
}

/** Waits for credentials, but not beyond the signal: an exec plugin may wait for a person. */
async function accessUntilAborted(call: Call, credentials: Promise<Access>, signal: AbortSignal): Promise<Access> {
  try {
    return await untilAborted(credentials, signal)
  } catch (cause) {
    signal.throwIfAborted()
    const message = `${call.name}: ${cause instanceof Error ? cause.message : 'no credentials'}`
    throw new KubeError(message, { status: 0, reason: 'NoCredentials', cause })
  }
}

function requestOf({ method, path, query = {}, body }: Call, userAgent: string) {
  const text = body && JSON.stringify(body.value)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return {
    method,
    path: search.size > 0 ? `${path}?${search.toString()}` : path,
    headers: {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(body && { 'content-type': body.type, 'content-length': Buffer.byteLength(text ?? '') }),
    },
    body: text,
  }
}

/** Runs work under a signal that aborts when the caller's signal aborts or the time is over. */
async function withTimeout<T>(
  call: string,
  { timeoutMs, signal }: Limits,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const atMs = performance.now() + timeoutMs
  const timeoutError = () =>
    new KubeError(`${call}: no answer within ${timeoutMs} ms`, { status: 0, reason: 'Timeout' })
  return withTimeLimit({ ms: timeoutMs, timeoutError, signal }, async (ends) => {
    try {
      return await work({ signal: ends, atMs })
    } catch (error) {
      ends.throwIfAborted()
      throw error instanceof KubeError ? error : unreachableError(call, error)
    }
  })
}
