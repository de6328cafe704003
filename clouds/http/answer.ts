/** Far above any page of a hundred objects, far below what would hurt the process. */
const maxBytes = 8 * 1024 * 1024

/** What came with a status: JSON, nothing, or something that the vendor's API does not send. */
export type Body = { kind: 'json'; value: unknown } | { kind: 'none' } | { kind: 'foreign'; what: string }

/** All that came back over the wire. */
export type RawResponse = { status: number; headers: Headers; body: Body }

/** An answer with its body, read to its end or to the bound. */
export async function readResponse(response: Response): Promise<RawResponse> {
  return { status: response.status, headers: response.headers, body: await readBody(response) }
}

async function readBody(response: Response): Promise<Body> {
  const text = await boundedText(response)
  if (text === undefined) return { kind: 'foreign', what: 'more than 8 MiB' }
  if (text.trim() === '') return { kind: 'none' }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    // The parser's message quotes the page, so it goes no further.
    return { kind: 'foreign', what: response.headers.get('content-type')?.split(';')[0] ?? 'a body of no type' }
  }
}

async function boundedText(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** How long the cloud asks us to stay away: Retry-After in seconds or as a date, else the end of the rate limit's window. */
export function retryAfterMs(headers: Headers, localNow: number): number | undefined {
  // Measured on the cloud's own clock where it tells it: ours may be off by more than the wait.
  const now = dateMs(headers.get('date')) ?? localNow
  const waitMs = (comeBackAt(headers, now) ?? now) - now
  return waitMs > 0 ? waitMs : undefined
}

function comeBackAt(headers: Headers, now: number): number | undefined {
  const after = headers.get('retry-after')
  const waitMs = secondsMs(after)
  if (waitMs !== undefined) return now + waitMs
  return dateMs(after) ?? secondsMs(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset'))
}

function secondsMs(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : undefined
}

function dateMs(value: string | null): number | undefined {
  const time = Date.parse(value ?? '')
  return Number.isNaN(time) ? undefined : time
}
