import { untilAborted } from '../lib/time-limit.ts'
import { agents } from './agents.ts'
import { defaultTimeoutMs } from './connect.ts'
import type { Credentials } from './credentials.ts'
import { readResponse, responseError, unreachableError } from './response.ts'

/** An API server's report about itself. `clockAheadMs`: how far its clock is ahead of ours, to about a second. */
export type ServerFacts = { version: string; major: number; minor: number; clockAheadMs: number }

const call = 'get /version'

/** Reads the version of an API server, and its clock from the response's header. */
export async function serverFacts(credentials: Credentials, userAgent: string): Promise<ServerFacts> {
  const signal = AbortSignal.timeout(defaultTimeoutMs)
  // An exec plugin may wait for a person.
  const access = await untilAborted(credentials.current(), signal)
  const headers = { accept: 'application/json', 'user-agent': userAgent }
  const request = { method: 'GET', path: '/version', headers, body: undefined, ownConnection: true, idempotent: true }
  const sentAtMs = Date.now()
  const message = await agents()
    .send(access, request, signal)
    .catch((error: unknown) => Promise.reject(unreachableError(call, error)))
  const response = await readResponse(call, message)
  if (response.status >= 300) throw responseError(call, response)
  return { ...versionOf(response.body), clockAheadMs: clockAhead(message.headers.date, sentAtMs, Date.now()) }
}

function versionOf(body: unknown): Omit<ServerFacts, 'clockAheadMs'> {
  const { gitVersion = '', major = '', minor = '' } = body as Record<string, string | undefined>
  // Some distributions report `31+`.
  return { version: gitVersion, major: Number.parseInt(major, 10), minor: Number.parseInt(minor, 10) }
}

/** The header has whole seconds, so a difference below a second means nothing. */
function clockAhead(date: string | undefined, sentAtMs: number, answeredAtMs: number): number {
  const theirsMs = Date.parse(date ?? '')
  if (Number.isNaN(theirsMs) || (theirsMs + 1000 >= sentAtMs && theirsMs <= answeredAtMs)) return 0
  return Math.round(theirsMs + 500 - (sentAtMs + answeredAtMs) / 2)
}
