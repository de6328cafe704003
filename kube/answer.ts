import type { IncomingMessage } from 'node:http'
import { KubeError } from './errors.ts'

/** Far above any page of a list we ask for, far below what would hurt the process. */
const maxBytes = 32 * 1024 * 1024

export type Answer = { status: number; retryAfter: string | undefined; body: unknown }

/** What the API server says when it refuses, as a body or inside a watch. */
type Status = {
  kind: 'Status'
  reason?: string
  message?: string
  code?: number
  details?: { name?: string; retryAfterSeconds?: number }
}

/** An answer with its body as JSON, or as text where it is none. */
export async function readAnswer(what: string, response: IncomingMessage): Promise<Answer> {
  const text = await readText(what, response)
  const status = response.statusCode ?? 0
  const retryAfter = response.headers['retry-after']
  try {
    return { status, retryAfter, body: JSON.parse(text) as unknown }
  } catch {
    if (status >= 300) return { status, retryAfter, body: text }
    // What the server of another trade sent is not ours to quote.
    const type = response.headers['content-type']?.split(';')[0] ?? 'of no type'
    const message = `${what}: ${status}, but the body (${type}) is not JSON; is this address an API server's?`
    throw new KubeError(message, { status, reason: 'Unreadable' })
  }
}

async function readText(what: string, response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      const message = `${what}: the answer is larger than ${maxBytes / 2 ** 20} MiB`
      throw new KubeError(message, { status: response.statusCode ?? 0, reason: 'Unreadable' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The error that an answer is. */
export function refusal(what: string, { status, retryAfter, body }: Answer): KubeError {
  const said = isStatus(body) ? body : undefined
  // Without a Status, or with one that names no object, the path itself is unknown to the server.
  if (status === 404 && said?.details?.name === undefined) return unknownKind(what)
  const reason = said ? (said.reason ?? 'Unknown') : 'Unreadable'
  const words = said?.message ?? 'the answer says no more'
  const retryAfterMs = secondsMs(retryAfter ?? said?.details?.retryAfterSeconds)
  return new KubeError(`${what}: ${words} (${status} ${said?.reason ?? 'without a reason'})`, {
    status,
    reason,
    retryAfterMs,
  })
}

function unknownKind(what: string): KubeError {
  const message = `${what}: the API server does not serve this kind; is its CustomResourceDefinition installed? (404)`
  return new KubeError(message, { status: 404, reason: 'UnknownKind' })
}

/** The error inside a watch that was answered with 200: an ERROR event carries a Status. */
export function refusalInWatch(what: string, object: unknown): KubeError {
  const status = isStatus(object) ? (object.code ?? 500) : 500
  return refusal(what, { status, retryAfter: undefined, body: object })
}

/** The error for a call that broke off before its answer was complete. */
export function unreachable(what: string, cause: unknown): KubeError {
  return new KubeError(`${what}: no answer from the API server: ${wordsOf(cause)}`, {
    status: 0,
    reason: 'Unreachable',
    cause,
  })
}

function wordsOf(cause: unknown): string {
  // A host with several addresses fails with one error for each, and no words of its own.
  if (cause instanceof AggregateError) return cause.errors.map(wordsOf).join('; ')
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the connection broke'
}

function isStatus(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
}

function secondsMs(seconds: string | number | undefined): number | undefined {
  const ms = Number(seconds) * 1000
  return ms >= 0 ? ms : undefined
}
