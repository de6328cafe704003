import { setTimeout as sleep } from 'node:timers/promises'
import { CloudError, type Fault } from './cloud.ts'
import { type RawAnswer, readAnswer } from './http/answer.ts'
import { backoffMs } from '../lib/backoff.ts'
import { withTimeLimit } from '../lib/time-limit.ts'
import { requireBaseUrl } from './http/base-url.ts'
import { brokenOff, givenUp, isOwn, type Reading, refused, timedOut } from './http/faults.ts'
import { type LaneOptions, makeLanes, type Pace } from './http/lanes.ts'
import { onward } from './http/redirect.ts'
import { prepare, type Request, type Sender, type VendorCall } from './http/request.ts'

export type VendorHttpOptions = Sender &
  Reading &
  Partial<LaneOptions> & {
    /** The wait before the second try of a read; it doubles from there. */
    retryDelayMs?: number
    /** Sees every exchange with the cloud, retries included. */
    observe?: ((exchange: Exchange) => void) | undefined
  }

export type Exchange = { call: string; ms: number; status: number | undefined; fault: Fault | undefined }

export type VendorAnswer = { status: number; headers: Headers; body: unknown }

export type VendorHttp = {
  /**
   * One call, which answers or throws a CloudError. Reads are tried again by themselves; a write only where it came too
   * soon after others, for then the cloud has done nothing.
   */
  call(call: VendorCall, signal: AbortSignal): Promise<VendorAnswer>
}

/** `onward`: where a redirect leads that may be followed. */
type Failure = { error: CloudError; passing: boolean; onward?: string | undefined }
type Result = { answer: VendorAnswer } | Failure

const tries = 4
const maxRedirects = 3

/** Whoever waits for a write is better told than kept waiting for longer. */
const longestAwayMs = 999

/** The HTTP caller under every vendor's client: JSON in and out, bounded in time, size and number of calls in flight. */
export function vendorHttp(options: VendorHttpOptions): VendorHttp {
  const baseUrl = requireBaseUrl(options.vendor, options.baseUrl)
  const inTurn = makeLanes({ inFlight: options.inFlight ?? 4, rate: options.rate })

  return {
    async call(call, signal) {
      const request = prepare(call, { ...options, baseUrl })
      const left = (reason: unknown) => givenUp(request.facts, { sent: false, reason })
      const carryOutInTime = (pace: Pace) =>
        within(request, signal, (ends) => carryOut(request, { ...options, pace }, ends))
      return inTurn(call.lane ?? (call.method === 'GET' ? 'read' : 'write'), carryOutInTime, { signal, left })
    },
  }
}

/** Runs work under a signal whose reason is the CloudError to throw, for the caller's abort as for our own time limit. */
async function within<T>(
  { facts, timeoutMs }: Request,
  signal: AbortSignal,
  work: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = {
    ms: timeoutMs,
    timeoutError: () => timedOut(facts, timeoutMs),
    signal,
    abortError: (reason: unknown) => givenUp(facts, { sent: true, reason }),
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

/** Waits for its retries in its place in the queue: fewer calls go out while the cloud has trouble. */
async function carryOut(
  request: Request,
  options: VendorHttpOptions & { pace: Pace },
  ends: AbortSignal,
): Promise<VendorAnswer> {
  const endsAt = performance.now() + request.timeoutMs
  for (let attempt = 1; ; attempt++) {
    const result = await follow(request, options, ends)
    if ('answer' in result) return result.answer
    const pauseMs = backoffMs(attempt, { firstMs: options.retryDelayMs ?? 250, maxMs: Infinity })
    const waitMs = pauseMs + (result.error.retryAfterMs ?? 0)
    if (!mayRepeat(request, result) || attempt === tries || performance.now() + waitMs >= endsAt) throw result.error
    try {
      await sleep(waitMs, undefined, { signal: ends })
      await options.pace(ends)
    } catch (error) {
      // No call is under way: what the last one of a write met is sure, and says that nothing was done.
      throw request.init.method === 'GET' ? error : result.error
    }
  }
}

function mayRepeat({ init }: Request, { error, passing }: Failure): boolean {
  if (init.method === 'GET') return passing
  return error.fault === 'rate-limit' && error.outcome === 'nothing' && (error.retryAfterMs ?? 0) <= longestAwayMs
}

/** One exchange, and those that its redirects lead on to. */
async function follow(
  request: Request,
  options: VendorHttpOptions & { pace: Pace },
  ends: AbortSignal,
): Promise<Result> {
  let result = await exchange(request, options, ends)
  for (let followed = 0; followed < maxRedirects && 'error' in result && result.onward !== undefined; followed++) {
    await options.pace(ends)
    result = await exchange({ ...request, url: result.onward }, options, ends)
  }
  return result
}

async function exchange(request: Request, options: VendorHttpOptions, ends: AbortSignal): Promise<Result> {
  const startedAt = performance.now()
  const arrived = await receive(request, ends)
  const isLost = arrived instanceof CloudError
  const result = isLost ? { error: arrived, passing: !ends.aborted } : judge(request, arrived, options)
  options.observe?.({
    call: request.facts.name,
    ms: performance.now() - startedAt,
    status: isLost ? undefined : arrived.status,
    fault: 'error' in result ? result.error.fault : undefined,
  })
  return result
}

async function receive({ url, init, facts }: Request, ends: AbortSignal): Promise<RawAnswer | CloudError> {
  try {
    return await readAnswer(await fetch(url, { ...init, signal: ends }))
  } catch (error) {
    return ends.reason instanceof CloudError ? ends.reason : brokenOff(facts, error)
  }
}

function judge(request: Request, raw: RawAnswer, reading: Reading): Result {
  const { status, headers, body } = raw
  const isGood = status >= 200 && status < 300
  const isAnswer = isGood ? body.kind !== 'foreign' : request.accept.includes(status) && isOwn(body)
  if (isAnswer) return { answer: { status, headers, body: body.kind === 'json' ? body.value : undefined } }
  const error = refused(request.facts, raw, reading)
  return { error, passing: error.fault === 'rate-limit' || status >= 500, onward: onward(request, raw) }
}
