import { CloudError, type Fault } from '../ports/cloud.ts'
import { type RawResponse, retryAfterMs } from './answer.ts'
import { connectTimeoutCode } from './send.ts'

/** The facts of a call, for messages about it. */
export type CallFacts = {
  vendor: string
  name: string
  method: string
  /** The path without the query. */
  path: string
  /** Whether the call changes nothing. */
  isRead: boolean
  /** Credentials and secrets of this call. No message may contain them, even if the vendor's text does. */
  secrets: string[]
  /** The remedy for each fault, which follows the vendor's text. */
  hints: Partial<Record<Fault, string>>
}

/** A refusal with the vendor's own text, for the call of this name. */
export type Refusal = { name: string; status: number; text: string | undefined; body: unknown }

/** How to parse a vendor's refusals. */
export type ErrorFormat = {
  /** The vendor's own text in the body of an error. */
  errorText(body: unknown): string | undefined
  /** The vendor's code in the body of an error, if it has any. */
  errorCode?: ((body: unknown) => string | undefined) | undefined
  /** The fault, if the status does not decide it. */
  fault?: ((refusal: Refusal) => Fault | undefined) | undefined
  /** Whether the provider may have executed a call that it answers with this 4xx; by default only for 408. */
  isDoubtful?: ((refusal: Refusal) => boolean) | undefined
  /** Whether the next call is allowed at the end of the rate limit's window; true by default. */
  resetIsWait?: boolean | undefined
}

/** The error for a call that the provider, or a proxy in front of it, refused. */
export function refusalError(facts: CallFacts, raw: RawResponse, format: ErrorFormat): CloudError {
  const { status, headers, body } = raw
  const { resetIsWait = true } = format
  const content = isVendorRefusal(raw) && body.kind === 'json' ? body.value : undefined
  const vendorMessage = content === undefined ? undefined : vendorText(format.errorText(content), facts)
  const refusal = { name: facts.name, status, text: vendorMessage, body: content }
  const fault = faultOf(refusal, raw, format)
  const isRefused = status >= 400 && status < 500 && status !== 408 && !format.isDoubtful?.(refusal)
  const outcome = isRefused ? 'nothing' : lostOutcome(facts)
  const answered = `${facts.vendor} answered ${status}${bodyText(raw)} to ${facts.method} ${facts.path}`
  const message =
    (vendorMessage ? `${answered}: ${vendorMessage}` : answered) + doubtText(outcome) + hintText(facts, fault)
  const isLimited = fault === 'rate-limit'
  // Every answer says when the window ends, but a provider that is unavailable may be back long before that.
  const wait = { localNow: Date.now(), resetIsWait: resetIsWait && isLimited }
  return new CloudError(message, {
    fault,
    outcome,
    code: content === undefined ? undefined : format.errorCode?.(content),
    retryAfterMs: isLimited || status === 503 ? retryAfterMs(headers, wait) : undefined,
  })
}

/** The error for a call without a complete response: not connected, cut off, or not HTTP. */
export function connectionError(facts: CallFacts, error: unknown): CloudError {
  const { vendor, method, path } = facts
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const reason = clean(reasonOf(cause), facts)
  const isUnsent = isConnectFailure(cause)
  const outcome = isUnsent ? 'nothing' : lostOutcome(facts)
  const message = `${vendor} ${isUnsent ? 'cannot be reached for' : 'broke off'} ${method} ${path}: ${reason}`
  return new CloudError(message + doubtText(outcome), { fault: 'unavailable', outcome, cause: error })
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no reason given'
  // Node has three texts for this. One is `aborted`, which sounds as if we had done it.
  if (codeOf(cause) === 'ECONNRESET') return 'other side closed the connection'
  return cause.message || (codeOf(cause) ?? cause.name)
}

/** The error for a call that exceeded its time limit while it waited for its answer or for credentials. */
export function timeoutError(facts: CallFacts, { timeoutMs, sent }: { timeoutMs: number; sent: boolean }): CloudError {
  const within = `within ${timeoutMs / 1000} s`
  if (!sent) return notSentError(facts, { fault: 'unavailable', reason: `it got no token ${within}` })
  const outcome = lostOutcome(facts)
  const message = `${facts.vendor} did not answer ${facts.method} ${facts.path} ${within}`
  return new CloudError(message + doubtText(outcome), { fault: 'unavailable', outcome })
}

/** The error for a call that its caller canceled before it was sent, or while it was in flight. */
export function canceledError(facts: CallFacts, { sent, reason }: { sent: boolean; reason: unknown }): CloudError {
  const outcome = sent ? lostOutcome(facts) : 'nothing'
  const when = sent ? 'while it was in flight' : 'before it was sent'
  const message = `${facts.method} ${facts.path} to ${facts.vendor} was canceled ${when}${doubtText(outcome)}`
  return new CloudError(message, { fault: 'unavailable', outcome, cause: reason })
}

/** The error for a call that cannot be sent. */
export function notSentError(facts: CallFacts, { fault, reason }: { fault: Fault; reason: string }): CloudError {
  return new CloudError(`${facts.vendor}: ${facts.method} ${facts.path} was not sent: ${reason}`, {
    fault,
    outcome: 'nothing',
  })
}

/**
 * Whether the vendor's API itself may have refused a call. It sends a JSON object, while proxies send HTML, text or
 * nothing. Only a 401 often has no body, because a header says everything.
 */
export function isVendorRefusal({ status, body }: Pick<RawResponse, 'status' | 'body'>): boolean {
  if (body.kind === 'none') return status === 401
  return body.kind === 'json' && typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value)
}

function faultOf(refusal: Refusal, raw: RawResponse, format: ErrorFormat): Fault {
  const { status } = raw
  if (status === 429) return 'rate-limit'
  // A proxy's 403 or 404 does not prove that we lack rights or that an object is deleted.
  if (!isVendorRefusal(raw)) return 'unavailable'
  return format.fault?.(refusal) ?? faultOfStatus(status)
}

function faultOfStatus(status: number): Fault {
  if (status === 401 || status === 403) return 'auth'
  if (status === 409) return 'conflict'
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) return 'invalid'
  return 'unavailable'
}

function bodyText({ status, body }: RawResponse): string {
  if (status >= 300 && status < 400) return ' (a redirect; a read follows a few, to the same host, and a write none)'
  if (body.kind === 'foreign') return ` with ${body.what}`
  return body.kind === 'none' ? ' with an empty body' : ''
}

function hintText({ hints }: CallFacts, fault: Fault): string {
  const hint = hints[fault]
  return hint ? `; ${hint}` : ''
}

function lostOutcome({ isRead }: CallFacts): 'nothing' | 'unknown' {
  return isRead ? 'nothing' : 'unknown'
}

function doubtText(outcome: 'nothing' | 'unknown'): string {
  return outcome === 'unknown' ? '; it may have succeeded' : ''
}

function vendorText(text: string | undefined, facts: CallFacts): string | undefined {
  // Our hint follows as part of the same sentence.
  const cleaned = text && clean(text, facts).replace(/\.$/, '')
  return cleaned || undefined
}

function clean(text: string, { secrets }: CallFacts): string {
  let cleaned = text
  for (const form of secrets.flatMap(formsOf)) cleaned = cleaned.replaceAll(form, '[redacted]')
  cleaned = cleaned.replace(/[\s\p{C}]+/gu, ' ').trim()
  return cleaned.length > 300 ? `${cleaned.slice(0, 300)}…` : cleaned
}

/** A secret as it is, and as JSON escapes it once and twice: vendors may quote the request in their answer. */
function formsOf(secret: string): string[] {
  const escaped = jsonEscaped(secret)
  return [jsonEscaped(escaped), escaped, secret]
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Failures before the first byte was sent: at the proxy, the connection, or the server's certificate. */
const beforeSending = new RegExp(
  `^(${connectTimeoutCode}|ERR_PROXY_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)`,
)

function isConnectFailure(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(isConnectFailure)
  if (!(cause instanceof Error)) return false
  const syscall = 'syscall' in cause ? cause.syscall : undefined
  return syscall === 'connect' || syscall === 'getaddrinfo' || beforeSending.test(codeOf(cause) ?? '')
}
