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
  /** Fields that are sent like an HTML form, instead of a JSON body. */
  form?: Record<string, string>
  /** The call changes nothing, although its method is not GET. */
  isRead?: true
  timeoutMs?: number
  /** Error statuses that are a valid response to this call: 404, for instance, if it means that the object is deleted. */
  accept?: number[]
  lane?: Lane
  /** Secrets in the body: no message may contain them, even if the vendor's text does. */
  secrets?: string[]
  hints?: Partial<Record<Fault, string>>
}

type Headers = Record<string, string>

/** The facts that all calls of a vendor's client share. */
export type Sender = {
  vendor: string
  baseUrl: string
  userAgent: string
  /** The headers with our credentials, read for every call and never shown. It may have to fetch a token first. */
  headers(signal: AbortSignal): Headers | Promise<Headers>
  /** Notes that these headers were answered with 401. If present, the call is sent once more with new headers. */
  renew?(refused: Headers): void
  /** The remedy for each fault, for any call. */
  hints?: Partial<Record<Fault, string>>
  readTimeoutMs?: number
  writeTimeoutMs?: number
}

/** A call before it gets credentials: the facts for messages about it, and its time limit. */
export type PlannedCall = { call: VendorCall; facts: CallFacts; timeoutMs: number }

/** A request to send, and the facts for messages about it. */
export type Request = { url: string; init: RequestParts; accept: number[]; facts: CallFacts }

/** Plans a call; throws if its path would address another object. */
export function planCall(call: VendorCall, sender: Sender): PlannedCall {
  const isRead = call.method === 'GET' || call.isRead === true
  const facts = {
    vendor: sender.vendor,
    name: call.name,
    method: call.method,
    path: pathOf(call),
    isRead,
    secrets: call.secrets ?? [],
    hints: { ...sender.hints, ...call.hints },
  }
  if (call.path.some((part) => /^\.{0,2}$/.test(part)))
    throw notSentError(facts, { fault: 'invalid', reason: 'its path has an empty part' })
  const usualMs = isRead ? (sender.readTimeoutMs ?? 10_000) : (sender.writeTimeoutMs ?? 20_000)
  return { call, facts, timeoutMs: call.timeoutMs ?? usualMs }
}

/** The request for a call with these credentials. */
export function prepareRequest({ call, ...planned }: PlannedCall, sender: Sender, credentials: Headers): Request {
  const facts = { ...planned.facts, secrets: [...secretsOf(credentials), ...planned.facts.secrets] }
  const body = bodyOf(call)
  return {
    url: sender.baseUrl + facts.path + formatQuery(call.query),
    init: {
      method: call.method,
      headers: headersOf(credentials, { type: body?.type, sender, facts }),
      ...(body && { body: body.text }),
    },
    accept: call.accept ?? [],
    facts,
  }
}

function pathOf({ path }: VendorCall): string {
  return path.map((part) => `/${encodeURIComponent(part)}`).join('')
}

function bodyOf({ body, form }: VendorCall): { type: string; text: string } | undefined {
  if (form) return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() }
  return body === undefined ? undefined : { type: 'application/json', text: JSON.stringify(body) }
}

function headersOf(
  credentials: Headers,
  { type, sender, facts }: { type: string | undefined; sender: Sender; facts: CallFacts },
): Headers {
  const headers: Headers = { accept: 'application/json', 'user-agent': sender.userAgent }
  if (type !== undefined) headers['content-type'] = type
  try {
    for (const [name, value] of Object.entries(credentials)) {
      // A token file often ends with a line break.
      const trimmed = value.trim()
      nodeHttp.validateHeaderValue(name, trimmed)
      headers[name.toLowerCase()] = trimmed
    }
  } catch {
    // Node's own message would quote the value.
    const reason = 'the credentials contain characters that an HTTP header cannot carry; check them for line breaks'
    throw notSentError(facts, { fault: 'auth', reason })
  }
  return headers
}

/** The texts to hide: `Bearer <token>` as a whole, and the token alone. */
function secretsOf(credentials: Headers): string[] {
  return Object.values(credentials)
    .flatMap((value) => [value.trim(), value.trim().split(' ').at(-1) ?? ''])
    .filter((secret) => secret !== '')
}

function formatQuery(query: VendorCall['query'] = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) params.append(name, String(one))
  return params.size > 0 ? `?${params.toString()}` : ''
}
