import { setTimeout as sleep } from 'node:timers/promises'
import { CloudError, type Exchange } from '../ports/cloud.ts'
import { callQuota, type RawResponse, readResponse, type ResponseHeaders } from './answer.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import {
  connectionError,
  canceledError,
  isVendorRefusal,
  type ErrorFormat,
  refusalError,
  timeoutError,
} from './faults.ts'
import { type LaneOptions, makeScheduler, type Pace } from './lanes.ts'
import { planCall, type PlannedCall, prepareRequest, type Request, type Sender, type VendorCall } from './request.ts'
import { makeThrottle, type Throttle } from './throttle.ts'
import { makeSend, type ProxyEnvironment, type Send } from './send.ts'
import { parseBaseUrl } from '../../lib/base-url.ts'

export type VendorHttpOptions = Sender &
  ErrorFormat &
  Partial<Omit<LaneOptions, 'throttle'>> & {
    /** The wait before the first retry, which doubles with each one. */
    retryDelayMs?: number
    proxy?: ProxyEnvironment | undefined
    /** Called after every exchange with the provider, retries included. */
    observe?: ((exchange: Exchange) => void) | undefined
  }

/** The options that every vendor's client has. */
export type ClientOptions = Pick<
  VendorHttpOptions,
  | 'baseUrl'
  | 'userAgent'
  | 'inFlight'
  | 'rate'
  | 'readTimeoutMs'
  | 'writeTimeoutMs'
  | 'retryDelayMs'
  | 'proxy'
  | 'observe'
> & { apiKey: { reveal(): string } }

export type VendorResponse = Pick<RawResponse, 'status' | 'headers' | 'bytes'> & { body: unknown }

export type VendorHttp = {
  /**
   * Makes a call, which returns a response or throws a CloudError. A read is retried after a transient error, but a
   * write only after a rate limit, because then the provider has done nothing.
   */
  call(call: VendorCall, signal: AbortSignal): Promise<VendorResponse>
}

/** `redirectUrl`: the target of a redirect that a read may follow. */
type Failure = { error: CloudError; isTransient: boolean; redirectUrl?: string | undefined }
type Result = { answer: VendorResponse } | Failure

type Tools = VendorHttpOptions & { pace: Pace; send: Send; throttle: Throttle }

/** Whether the call was sent. Until then, the provider has done nothing. */
type Progress = { isSent: boolean }

/** Enough for four reserves at a time, and one other call. */
const defaultInFlight = 5

const maxAttempts = 4
const maxRedirects = 3

/** A write waits no longer than this for a rate limit: beyond it, the caller gets an error that names the wait. */
const maxRateLimitWaitMs = 999

/** The HTTP client behind every vendor's client: JSON, with limits on time, size and calls in flight. */
export function vendorHttp(options: VendorHttpOptions): VendorHttp {
  const baseUrl = requireBaseUrl(options.vendor, options.baseUrl)
  const send = makeSend({ proxy: options.proxy })
  const throttle = makeThrottle()
  const schedule = makeScheduler({ inFlight: options.inFlight ?? defaultInFlight, rate: options.rate, throttle })

  return {
    async call(call, signal) {
      const planned = planCall(call, { ...options, baseUrl })
      const abortError = (reason: unknown) => canceledError(planned.facts, { sent: false, reason })
      const carryOutInTime = async (pace: Pace) => {
        const progress = { isSent: false }
        const tools = { ...options, baseUrl, pace, send, throttle }
        return within(planned, { progress, signal }, (ends) => carryOutCall(planned, { ...tools, progress }, ends))
      }
      return schedule(call.lane ?? (planned.facts.isRead ? 'read' : 'write'), carryOutInTime, { signal, abortError })
    },
  }
}

/** Runs work under a signal whose reason is the CloudError to throw, both for the caller's abort and for our own time limit. */
async function within<T>(
  { facts, timeoutMs }: PlannedCall,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
  work: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = {
    ms: timeoutMs,
    timeoutError: () => timeoutError(facts, { timeoutMs, sent: progress.isSent }),
    signal,
    abortError: (reason: unknown) => canceledError(facts, { sent: progress.isSent, reason }),
  }
  return withTimeLimit(limits, async (ends) => {
    try {
      return await work(ends)
    } catch (error) {
      if (!(error instanceof CloudError)) ends.throwIfAborted()
      throw error
    }
  })
}

/**
 * Sends a call with the current credentials, which may have changed while it waited for its turn. After a 401, it is
 * sent once more if there may be new credentials: the provider checks credentials before it does anything.
 */
async function carryOutCall(
  planned: PlannedCall,
  options: Tools & { progress: Progress },
  ends: AbortSignal,
): Promise<VendorResponse> {
  const { progress } = options
  const endsAt = performance.now() + planned.timeoutMs
  const attempt = async (accept: number[]) => {
    progress.isSent = false
    const credentials = await options.headers(ends)
    const request = prepareRequest(planned, options, credentials)
    progress.isSent = true
    const answer = await carryOut({ ...request, accept: [...request.accept, ...accept], endsAt }, options, ends)
    return { answer, credentials }
  }
  if (!options.renew) return (await attempt([])).answer
  const { answer, credentials } = await attempt([401])
  if (answer.status !== 401) return answer
  progress.isSent = false
  options.renew(credentials)
  await options.pace(ends)
  return (await attempt([])).answer
}

/**
 * Sends a request and its retries. It is hand-written because p-retry knows neither the deadline nor the rate of the
 * queue. The call keeps its place in the queue while it waits, so fewer calls go out while the provider has errors.
 */
async function carryOut(
  { endsAt, ...request }: Request & { endsAt: number },
  options: Tools,
  ends: AbortSignal,
): Promise<VendorResponse> {
  for (let attempt = 1; ; attempt++) {
    const result = await follow(request, options, ends)
    if ('answer' in result) return result.answer
    const pauseMs = backoffMs(attempt, { firstMs: options.retryDelayMs ?? 250, maxMs: Infinity })
    const waitMs = pauseMs + (result.error.retryAfterMs ?? 0)
    if (!isRepeatable(request, result) || attempt === maxAttempts || performance.now() + waitMs >= endsAt)
      throw result.error
    try {
      await sleep(waitMs, undefined, { signal: ends })
      await options.pace(ends)
    } catch (error) {
      // No call is in flight, so a write's last error still holds: the provider did nothing.
      throw request.facts.isRead ? error : result.error
    }
  }
}

function isRepeatable({ facts }: Request, { error, isTransient }: Failure): boolean {
  if (facts.isRead) return isTransient
  return error.fault === 'rate-limit' && error.outcome === 'nothing' && (error.retryAfterMs ?? 0) <= maxRateLimitWaitMs
}

/** Makes an exchange and follows its redirects. */
async function follow(request: Request, options: Tools, ends: AbortSignal): Promise<Result> {
  let result = await exchange(request, options, ends)
  for (let followed = 0; followed < maxRedirects && 'error' in result && result.redirectUrl !== undefined; followed++) {
    await options.pace(ends)
    result = await exchange({ ...request, url: result.redirectUrl }, options, ends)
  }
  return result
}

async function exchange(request: Request, options: Tools, ends: AbortSignal): Promise<Result> {
  const startedAt = performance.now()
  const arrived = await receive(request, options.send, ends)
  const isLost = arrived instanceof CloudError
  if (!isLost) tellQuota(options, arrived)
  const result = isLost ? { error: arrived, isTransient: !ends.aborted } : judge(request, arrived, options)
  if ('answer' in result) options.throttle.noteResult('accepted', startedAt)
  else if (result.error.fault === 'rate-limit' && result.error.retryAfterMs === undefined)
    options.throttle.noteResult('refused', startedAt)
  options.observe?.({
    call: request.facts.name,
    ms: performance.now() - startedAt,
    status: isLost ? undefined : arrived.status,
    fault: 'error' in result ? result.error.fault : undefined,
    cloudRequest: isLost ? undefined : vendorRequestId(arrived.headers),
  })
  return result
}

/** Notes how many calls the provider says are left. After a refusal, it often says how long to wait instead. */
function tellQuota({ throttle, resetIsWait = true }: Tools, { status, headers }: RawResponse): void {
  const quota = callQuota(headers, { localNow: Date.now(), resetIsWait })
  if (quota && (status !== 429 || quota.paceMs !== undefined)) throttle.noteQuota(quota)
}

/** The id is shown to people, so it may contain only the usual characters of such ids. */
function vendorRequestId(headers: ResponseHeaders): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('x-correlation-id')
  return id !== null && /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined
}

async function receive(
  { url, init, facts }: Request,
  send: Send,
  ends: AbortSignal,
): Promise<RawResponse | CloudError> {
  try {
    return await readResponse(await send(url, init, ends))
  } catch (error) {
    return ends.reason instanceof CloudError ? ends.reason : connectionError(facts, error)
  }
}

function judge(request: Request, raw: RawResponse, format: ErrorFormat): Result {
  const { status, headers, body } = raw
  const isGood = status >= 200 && status < 300
  const isAnswer = isGood ? body.kind !== 'foreign' : request.accept.includes(status) && isVendorRefusal(raw)
  if (isAnswer)
    return { answer: { status, headers, bytes: raw.bytes, body: body.kind === 'json' ? body.value : undefined } }
  const error = refusalError(request.facts, raw, format)
  return { error, isTransient: error.fault === 'rate-limit' || status >= 500, redirectUrl: redirectUrl(request, raw) }
}

/** The base URL of a provider's API without trailing slashes; throws if the URL would send credentials in the clear. */
export function requireBaseUrl(vendor: string, baseUrl: string): string {
  const parsed = parseBaseUrl(baseUrl, 'loopback')
  if ('url' in parsed) return parsed.url
  const shown = withoutLogin(baseUrl)
  throw new Error(`${vendor}: base URL "${shown}" ${parsed.problem}; expected one like https://api.example.com/v1`)
}

function withoutLogin(url: string): string {
  return url.replace(/^([^:]*:\/*)?[^/]*@/, '$1…@')
}

/** A request that was answered with a redirect. */
type RedirectedRequest = { url: string; init: { method: string } }

const redirectStatuses = [301, 302, 303, 307, 308]

/**
 * The URL to which a read may follow a redirect; undefined if it must not. It must be on the same host, because the
 * request carries credentials. The scheme stays ours, because an API may redirect to its own address by plain http.
 */
export function redirectUrl(
  { url, init }: RedirectedRequest,
  { status, headers }: { status: number; headers: ResponseHeaders },
) {
  const location = headers.get('location')
  if (init.method !== 'GET' || location === null || !redirectStatuses.includes(status)) return undefined
  const asked = new URL(url)
  const next = URL.parse(location, url)
  if (!next || !['http:', 'https:'].includes(next.protocol)) return undefined
  next.protocol = asked.protocol
  next.hash = ''
  const isSameHost = next.host === asked.host && next.username === '' && next.password === ''
  return isSameHost ? next.href : undefined
}
