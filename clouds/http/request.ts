import type { Fault } from '../ports/cloud.ts'
import { type CallFacts, notSentError } from './faults.ts'
import type { Lane } from './lanes.ts'
import type { RequestParts } from './send.ts'
import { nodeHttp } from '../../lib/node-http.ts'

export type VendorCall = {
  /** The name of the call in metrics. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Segments below the base URL. */
  path: string[]
  query?: Record<string, string | number | string[]>
  body?: unknown
  timeoutMs?: number
  /** Error statuses that are a valid response to this call: 404 if it means that the object is gone. */
  accept?: number[]
  lane?: Lane
  /** Secrets in the body: no message may contain them, even if the vendor's text does. */
  secrets?: string[]
  hints?: Partial<Record<Fault, string>>
}

/** The facts that all calls of a vendor's client share. */
export type Sender = {
  /** The vendor's name, for people. */
  vendor: string
  baseUrl: string
  userAgent: string
  /** The headers with our credentials; read for every call, never shown. */
  headers(): Record<string, string>
  /** What a person can do about a fault of any call. */
  hints?: Partial<Record<Fault, string>>
  readTimeoutMs?: number
  writeTimeoutMs?: number
}

/** A request to send, and the facts for messages about it. */
export type Request = { url: string; init: RequestParts; accept: number[]; timeoutMs: number; facts: CallFacts }

/** The request for a call. */
export function prepareRequest(call: VendorCall, sender: Sender): Request {
  const isRead = call.method === 'GET'
  const credentials = sender.headers()
  const path = call.path.map((part) => `/${encodeURIComponent(part)}`).join('')
  const facts = {
    vendor: sender.vendor,
    name: call.name,
    method: call.method,
    path,
    secrets: [...secretsOf(credentials), ...(call.secrets ?? [])],
    hints: { ...sender.hints, ...call.hints },
  }
  if (call.path.some((part) => /^\.{0,2}$/.test(part)))
    throw notSentError(facts, { fault: 'invalid', reason: 'its path has an empty part' })
  return {
    url: sender.baseUrl + path + formatQuery(call.query),
    init: {
      method: call.method,
      headers: headersOf(credentials, { call, sender, facts }),
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    },
    accept: call.accept ?? [],
    timeoutMs: call.timeoutMs ?? (isRead ? (sender.readTimeoutMs ?? 10_000) : (sender.writeTimeoutMs ?? 20_000)),
    facts,
  }
}

function headersOf(
  credentials: Record<string, string>,
  { call, sender, facts }: { call: VendorCall; sender: Sender; facts: CallFacts },
): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': sender.userAgent }
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  try {
    for (const [name, value] of Object.entries(credentials)) {
      // The file of a token often ends with a line break.
      const trimmed = value.trim()
      nodeHttp.validateHeaderValue(name, trimmed)
      headers[name.toLowerCase()] = trimmed
    }
  } catch {
    // Node's own message quotes the value.
    const reason = 'the credentials contain characters that an HTTP header cannot carry; check them for line breaks'
    throw notSentError(facts, { fault: 'auth', reason })
  }
  return headers
}

/** The texts to hide: `Bearer <token>` as a whole, and the token alone. */
function secretsOf(credentials: Record<string, string>): string[] {
  return Object.values(credentials)
    .flatMap((value) => [value.trim(), value.trim().split(' ').at(-1) ?? ''])
    .filter((secret) => secret !== '')
}

function formatQuery(query: VendorCall['query'] = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) params.append(name, String(one))
  return params.size > 0 ? `?${params.toString()}` : ''
}
