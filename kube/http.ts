import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Agents, agents } from './agents.ts'
import { type Answer, readAnswer, refusal, unreachable } from './answer.ts'
import type { Access, Credentials } from './credentials.ts'
import { KubeError } from './errors.ts'
import { withTimeLimit } from '../lib/time-limit.ts'

export type Call = {
  /** The call in words, for messages: `get Service default/web`. */
  what: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: { type: string; value: object }
  /** Carrying it out twice does what carrying it out once does. */
  idempotent: boolean
}

export type Limits = { timeoutMs: number; signal?: AbortSignal | undefined }

/** HTTP as the API server speaks it; only this room sees it. */
export type Http = {
  /** The JSON that a call is answered with; a refusal is a KubeError, the caller's abort is its own reason. */
  call(call: Call, limits: Limits): Promise<unknown>
  /** An answer of 200 whose body is still to come, on a connection of its own. The signal ends it. */
  open(call: Call, signal: AbortSignal): Promise<IncomingMessage>
}

type Wire = { credentials: Credentials; userAgent: string; agents: Agents }
type Ends = { signal: AbortSignal; atMs: number }

const tries = 4

/** HTTP to the API server that the credentials lead to. */
export function http(options: { credentials: Credentials; userAgent: string }): Http {
  const wire = { ...options, agents: agents() }
  return {
    call: (call, limits) => within(call.what, limits, (ends) => carryOut(wire, call, ends)),
    async open(call, signal) {
      const response = await exchange(wire, call, { alone: true, signal })
      if (response.statusCode === 200) return response
      throw refusal(call.what, await readAnswer(call.what, response))
    },
  }
}

/** Carries a call out, and again where the server asks for patience and doing so is safe. */
async function carryOut(wire: Wire, call: Call, ends: Ends): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await exchange(wire, call, { alone: false, signal: ends.signal })
    const answer = await readAnswer(call.what, response)
    if (answer.status < 300) return answer.body
    const error = refusal(call.what, answer)
    const waitMs = patienceMs(call, answer, error)
    if (waitMs === undefined || attempt === tries || performance.now() + waitMs >= ends.atMs) throw error
    await sleep(waitMs, undefined, { signal: ends.signal })
  }
}

function patienceMs(call: Call, { status }: Answer, { retryAfterMs }: KubeError): number | undefined {
  return call.idempotent && (status === 429 || status === 503) ? retryAfterMs : undefined
}

/** Sends a request, and once more with fresh credentials if the server does not know us by these. */
async function exchange(
  wire: Wire,
  call: Call,
  { alone, signal }: { alone: boolean; signal: AbortSignal },
): Promise<IncomingMessage> {
  const request = { ...requestOf(call, wire.userAgent), alone, idempotent: call.idempotent }
  const access = await who(call, wire.credentials.current(), signal)
  const response = await wire.agents.send(access, request, signal)
  if (response.statusCode !== 401) return response
  response.resume()
  const renewed = await who(call, wire.credentials.renew(access), signal)
  return wire.agents.send(renewed, request, signal)
}

/** An exec plugin may wait for a person; a call does not wait longer than its signal lets it. */
async function who(call: Call, asked: Promise<Access>, signal: AbortSignal): Promise<Access> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([asked, ended])
  } catch (cause) {
    signal.throwIfAborted()
    const message = `${call.what}: ${cause instanceof Error ? cause.message : 'no credentials'}`
    throw new KubeError(message, { status: 0, reason: 'NoCredentials', cause })
  } finally {
    signal.removeEventListener('abort', leave)
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

/** Runs work under a signal that aborts when the caller's does or the time is over. */
async function within<T>(what: string, { timeoutMs, signal }: Limits, work: (ends: Ends) => Promise<T>): Promise<T> {
  signal?.throwIfAborted()
  const atMs = performance.now() + timeoutMs
  const timeoutError = () =>
    new KubeError(`${what}: no answer within ${timeoutMs} ms`, { status: 0, reason: 'Timeout' })
  return withTimeLimit({ ms: timeoutMs, timeoutError, signal }, async (ends) => {
    try {
      return await work({ signal: ends, atMs })
    } catch (error) {
      ends.throwIfAborted()
      throw error instanceof KubeError ? error : unreachable(what, error)
    }
  })
}
