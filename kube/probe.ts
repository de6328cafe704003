import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { checkServerIdentity } from 'node:tls'
import { runningTimer, untilAborted, withTimeLimit } from '../lib/time-limit.ts'
import type { Access, Credentials, Tls } from './credentials.ts'
import type { Log } from './log.ts'
import { defined } from '../lib/json.ts'

/** Where an API server listens. */
export type Endpoint = { address: string; port: number }

/**
 * The result of one probe. A failure is `definite` if the server refused or reported it: the next probe need not wait.
 * A probe without a timely answer may only mean that the server is slow.
 */
export type ProbeResult = { isWell: true } | { isWell: false; isDefinite: boolean; reason: string }

/** Probes an API server. It always resolves, at the time-out at the latest. */
export type Probe = (endpoint: Endpoint, signal?: AbortSignal) => Promise<ProbeResult>

export type ProbeOptions = {
  /** Without `introduces`, only the cluster's CA is read from them. */
  credentials: Credentials
  /** Whether a server that refuses anonymous requests gets our credentials, if its certificate names the address. */
  introduces: boolean
  userAgent: string
  timeoutMs: number
  log: Log
}

type Answer = { status: number; text: string }

/** A server without /readyz is older than Kubernetes 1.16. */
const paths = ['/readyz', '/healthz'] as const

/** The answers of a server that refuses anonymous requests, as with `--anonymous-auth=false`. */
const closed = [401, 403]

/** Enough, because the answer begins with the failed checks. */
const maxTextLength = 8_192

/**
 * Probes of API servers, each on its own connection. The certificate must come from the cluster's CA. It need not name
 * the address, because many clusters have certificates without it.
 */
export function apiServerProbe(options: ProbeOptions): Probe {
  const { timeoutMs, credentials, introduces } = options
  const identify = identifier(options)
  const ask = async (endpoint: Endpoint, signal: AbortSignal): Promise<ProbeResult> => {
    const access = await untilAborted(credentials.current(), signal)
    const question = { ...requestOf(endpoint, options, access.tls), signal }
    const answer = await askReadiness({ ...question, checkServerIdentity: identify })
    if (!introduces || !closed.includes(answer.status)) return judge(answer)
    return judge((await askIntroduced(question, access)) ?? answer)
  }

  return async (endpoint, signal) => {
    let isLate = false
    const timeoutError = () => {
      isLate = true
      return new Error(`no answer within ${timeoutMs} ms`)
    }
    try {
      return await withTimeLimit({ ms: timeoutMs, timeoutError, signal, timer: runningTimer }, async (ends) => {
        try {
          return await ask(endpoint, ends)
        } catch (error) {
          ends.throwIfAborted()
          throw error
        }
      })
    } catch (error) {
      return { isWell: false, isDefinite: !isLate, reason: error instanceof Error ? error.message : 'it was canceled' }
    }
  }
}

async function askReadiness(question: RequestOptions): Promise<Answer> {
  const [newer, older] = paths
  const answer = await get({ ...question, path: newer })
  return answer.status === 404 ? get({ ...question, path: older }) : answer
}

/**
 * The answer to an authenticated request; undefined if nothing proves that the server owns this address. Then it gets
 * no token and no request. It does see a client certificate, because TLS sends it before Node checks the server's name,
 * but never the key.
 */
async function askIntroduced(question: RequestOptions, { headers, tls }: Access): Promise<Answer | undefined> {
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized } = tls
  if (ca === undefined || rejectUnauthorized === false) return undefined
  const identity = Object.fromEntries(Object.entries({ cert, key, pfx, passphrase }).filter(([, value]) => value))
  try {
    // The environment of the process may disable this check.
    return await askReadiness({
      ...question,
      ...identity,
      rejectUnauthorized: true,
      headers: { ...headers, ...(question.headers as Record<string, string>) },
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined
    throw error
  }
}

/** Accepts a certificate for any name, and logs once for each address what it should name. */
function identifier({ log }: ProbeOptions): NonNullable<RequestOptions['checkServerIdentity']> {
  const unnamed = new Set<string>()
  return (address, certificate) => {
    const error = checkServerIdentity(address, certificate)
    if (error === undefined || unnamed.has(address)) return undefined
    unnamed.add(address)
    const fact = 'the certificate of an API server does not name its address; only its CA is checked'
    log.warn({ address, error: error.message }, fact)
    return undefined
  }
}

function requestOf(
  { address, port }: Endpoint,
  { userAgent }: ProbeOptions,
  { ca, rejectUnauthorized }: Tls,
): RequestOptions {
  return {
    host: address,
    port,
    agent: false,
    headers: { 'user-agent': userAgent, connection: 'close' },
    ...defined({ ca, rejectUnauthorized }),
  }
}

/** A server that refuses us with 401, 403 or 429 is alive: it may require credentials, or be overloaded. */
function judge({ status, text }: Answer): ProbeResult {
  if ((status >= 200 && status < 300) || [...closed, 429].includes(status)) return { isWell: true }
  const failed = text.match(/^\[-\][^ ]+/gm)?.map((line) => line.slice(3)) ?? []
  const checks = failed.length > 0 ? `: ${failed.slice(0, 5).join(', ')}` : ''
  return { isWell: false, isDefinite: true, reason: `it answers ${status}${checks}` }
}

function get(options: RequestOptions): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const call = request(options, (response) => {
    readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
  })
  call.on('error', reject)
  call.end()
  return promise
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
    text += part
    if (text.length > maxTextLength) break
  }
  return text
}
