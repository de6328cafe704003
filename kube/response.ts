import type { IncomingMessage } from 'node:http'
import { KubeError } from './errors.ts'

/** Larger than any object, smaller than what would hurt the process. A larger list is read in smaller pages. */
const maxBytes = 32 * 1024 * 1024

export type KubeResponse = { status: number; retryAfter: string | undefined; body: unknown }

/** The API server's error, in the body of a response or in a watch. */
type Status = {
  kind: 'Status'
  reason?: string
  message?: string
  code?: number
  details?: { name?: string; retryAfterSeconds?: number }
}

/** Reads a whole response. Its body is JSON, or text if the call failed and the body is not JSON. */
export async function readResponse(call: string, response: IncomingMessage): Promise<KubeResponse> {
  const text = await readText(call, response)
  const status = response.statusCode ?? 0
  const retryAfter = response.headers['retry-after']
  try {
    return { status, retryAfter, body: JSON.parse(text) as unknown }
  } catch {
    if (status >= 300) return { status, retryAfter, body: text }
    // The body of another server may contain secrets, so the message does not quote it.
    const type = response.headers['content-type']?.split(';')[0] ?? 'without a content type'
    const message = `${call}: ${status}, but the body (${type}) is not JSON; is this address an API server's?`
    throw new KubeError(message, { status, reason: 'Unreadable' })
  }
}

/** The warnings in a response: quoted texts, each after its code and its agent (RFC 7234). */
export function warningsIn({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  const all = [headers['warning'] ?? []].flat().join(', ')
  return [...all.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'))
}

async function readText(call: string, response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      const message = `${call}: the answer is larger than ${maxBytes / 2 ** 20} MiB`
      throw new KubeError(message, { status: response.statusCode ?? 0, reason: 'TooLarge' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The error for a response that is not a success. */
export function responseError(call: string, { status, retryAfter, body }: KubeResponse): KubeError {
  const details = isStatus(body) ? body : undefined
  // Without a Status, or with one that names no object, the path itself is unknown to the server.
  if (status === 404 && details?.details?.name === undefined) return unknownKindError(call)
  const reason = details ? (details.reason ?? 'Unknown') : 'Unreadable'
  const message = details?.message ?? 'the answer gives no message'
  const retryAfterMs = secondsToMs(retryAfter ?? details?.details?.retryAfterSeconds)
  return new KubeError(`${call}: ${message} (${status} ${details?.reason ?? 'without a reason'})`, {
    status,
    reason,
    retryAfterMs,
  })
}

function unknownKindError(call: string): KubeError {
  const message = `${call}: the API server does not serve this kind; is its CustomResourceDefinition installed? (404)`
  return new KubeError(message, { status: 404, reason: 'UnknownKind' })
}

/** The error for an ERROR event, which ends a watch that began with 200: the event carries a Status. */
export function errorEventError(call: string, object: unknown): KubeError {
  const status = isStatus(object) ? (object.code ?? 500) : 500
  return responseError(call, { status, retryAfter: undefined, body: object })
}

/** The error for a call that failed before its response was complete. */
export function unreachableError(call: string, cause: unknown): KubeError {
  return new KubeError(`${call}: no answer from the API server: ${messageOf(cause)}`, {
    status: 0,
    reason: 'Unreachable',
    cause,
  })
}

function messageOf(cause: unknown): string {
  // For a host with several addresses, each address has its own error, and the AggregateError itself has no message.
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the connection broke'
}

function isStatus(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
}

/** Undefined for 0: otherwise a failing call would be repeated without a pause for as long as it fails. */
function secondsToMs(seconds: string | number | undefined): number | undefined {
  const ms = Number(seconds) * 1000
  return ms > 0 ? ms : undefined
}
