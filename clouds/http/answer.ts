import type { CallQuota } from './throttle.ts'

/** Much more than a page of a hundred objects, and much less than would harm the process. */
const maxBytes = 8 * 1024 * 1024

/** The body of a response: JSON, nothing, or something that the vendor's API never sends. */
export type Body = { kind: 'json'; value: unknown } | { kind: 'none' } | { kind: 'foreign'; what: string }

/** The headers of a response, whose names ignore case. */
export type ResponseHeaders = { get(name: string): string | null }

/** A response whose body is still to come. */
export type ReceivedResponse = { status: number; headers: ResponseHeaders; body: AsyncIterable<Uint8Array> | null }

/** A response before it is judged; `bytes` is the length of its body. */
export type RawResponse = { status: number; headers: ResponseHeaders; body: Body; bytes: number }

/** Reads a response and its body, to the end or to the limit. */
export async function readResponse(response: ReceivedResponse): Promise<RawResponse> {
  const { text, bytes } = await boundedText(response)
  return { status: response.status, headers: response.headers, body: bodyOf(response, text), bytes }
}

function bodyOf(response: ReceivedResponse, text: string | undefined): Body {
  if (text === undefined) return { kind: 'foreign', what: 'more than 8 MiB' }
  if (text.trim() === '') return { kind: 'none' }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    // The parser's message quotes the body, which may be confidential, so it is dropped.
    return { kind: 'foreign', what: response.headers.get('content-type')?.split(';')[0] ?? 'a body of no type' }
  }
}

async function boundedText(response: ReceivedResponse): Promise<{ text?: string; bytes: number }> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return { bytes }
    text += decoder.decode(chunk, { stream: true })
  }
  return { text: text + decoder.decode(), bytes }
}

/** Times are whole seconds, so a shorter one reveals no pace. */
const leastPacedMs = 10_000

/** How many calls the provider says are left, in either of the usual headers. */
export function callQuota(
  headers: ResponseHeaders,
  { localNow, resetIsWait }: { localNow: number; resetIsWait: boolean },
): CallQuota | undefined {
  const numberOf = (name: string) => Number(headers.get(name) ?? headers.get(`x-${name}`) ?? NaN)
  const [left, limit] = [numberOf('ratelimit-remaining'), numberOf('ratelimit-limit')]
  if (!(left >= 0 && limit > 0)) return undefined
  const fullInMs = numberOf('ratelimit-reset') * 1000 - (dateMs(headers.get('date')) ?? localNow)
  // A window that ends all at once has no pace.
  const hasPace = !resetIsWait && fullInMs >= leastPacedMs && left < limit
  return { left, limit, paceMs: hasPace ? fullInMs / (limit - left) : undefined }
}

/** How long the provider asks us to wait: Retry-After in seconds or as a date, else the end of the rate limit's window. */
export function retryAfterMs(
  headers: ResponseHeaders,
  { localNow, resetIsWait }: { localNow: number; resetIsWait: boolean },
): number | undefined {
  // This uses the provider's clock if it sends a date: ours may be wrong by more than the wait.
  const now = dateMs(headers.get('date')) ?? localNow
  const reset = secondsMs(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset'))
  const waitMs = (retryAt(headers, now) ?? (resetIsWait ? reset : undefined) ?? now) - now
  return waitMs > 0 ? waitMs : undefined
}

function retryAt(headers: ResponseHeaders, now: number): number | undefined {
  const after = headers.get('retry-after')
  const waitMs = secondsMs(after)
  return waitMs === undefined ? dateMs(after) : now + waitMs
}

function secondsMs(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : undefined
}

function dateMs(value: string | null): number | undefined {
  const time = Date.parse(value ?? '')
  return Number.isNaN(time) ? undefined : time
}
