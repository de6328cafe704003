import type { Fault } from '../cloud.ts'
import { type CallFacts, notSentError } from './faults.ts'
import type { Lane } from './lanes.ts'

export type VendorCall = {
  /** What the call is for, as metrics count it. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Segments below the base URL. */
  path: string[]
  query?: Record<string, string | number | string[]>
  body?: unknown
  timeoutMs?: number
  /** Refusals that are an answer to this call: 404 where "gone" is one. */
  accept?: number[]
  lane?: Lane
  /** What the body holds that no message may repeat, though the vendor does. */
  secrets?: string[]
  hints?: Partial<Record<Fault, string>>
}

/** What all calls of a vendor's client have in common. */
export type Sender = {
  /** The vendor's name, for people. */
  vendor: string
  baseUrl: string
  userAgent: string
  /** The headers that prove who we are; asked for at every call, never shown. */
  headers(): Record<string, string>
  /** What a person can do about a fault, whatever the call. */
  hints?: Partial<Record<Fault, string>>
  readTimeoutMs?: number
  writeTimeoutMs?: number
}

/** A request as it goes out, and all that may be said of it. */
export type Request = { url: string; init: RequestInit; accept: number[]; timeoutMs: number; facts: CallFacts }

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
      redirect: 'manual',
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
): Headers {
  const headers = new Headers({ accept: 'application/json', 'user-agent': sender.userAgent })
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  try {
    for (const [name, value] of Object.entries(credentials)) headers.set(name, value)
  } catch {
    // The platform's message quotes the value.
    const reason =
      'the credentials hold characters that no HTTP header can carry; look for a line break or a stray sign'
    throw notSentError(facts, { fault: 'auth', reason })
  }
  return headers
}

/** `Bearer <token>` is to be hidden whole and as the bare token. */
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
