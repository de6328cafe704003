import type { IncomingHttpHeaders } from 'node:http'
import type { TokenCheck } from '../settings/token-file.ts'

/** The sender of a request for the page. */
export type Caller = { headers: IncomingHttpHeaders; remoteAddress: string | undefined }

export type Refusal = { status: 401 | 403 | 429; headers: Record<string, string>; text: string }

/** Why a caller may not see the page; undefined if it may. */
export type Access = (caller: Caller) => Refusal | undefined

/**
 * Decides who sees the page. Without a token (`isToken` is absent), only a browser on this machine or behind a
 * port-forward sees it.
 */
export function pageAccess({ isToken, now }: { isToken: TokenCheck | undefined; now: () => number }): Access {
  if (isToken === undefined) return onlyLoopbackNames
  const failed = failedLogins(now)
  return (caller) => checkToken(caller, isToken, failed)
}

/**
 * Prevents DNS rebinding: a web site may make its name resolve to 127.0.0.1, and could then read the page through a
 * browser. The Host header shows the name that the browser used.
 */
function onlyLoopbackNames({ headers }: Caller): Refusal | undefined {
  if (loopbackName.test(headers.host ?? '')) return undefined
  const text = 'Without a token the page is shown only under the name localhost or a loopback address.\n'
  return { status: 403, headers: {}, text }
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

function checkToken(
  { headers, remoteAddress = '' }: Caller,
  isToken: TokenCheck,
  failed: FailedLogins,
): Refusal | undefined {
  const given = givenToken(headers.authorization)
  if (given === undefined) return { status: 401, headers: challenge, text: 'The status page needs its token.\n' }
  if (failed.mustWait(remoteAddress))
    return { status: 429, headers: { 'retry-after': '10' }, text: 'Too many wrong tokens: wait ten seconds.\n' }
  if (isToken(given)) return undefined
  failed.add(remoteAddress)
  return { status: 401, headers: challenge, text: 'That is not the token of the status page.\n' }
}

/** Browsers prompt for a user name, which is ignored, and a password, which is the token. */
const challenge = { 'www-authenticate': 'Basic realm="eip-admission status page", charset="UTF-8"' }

function givenToken(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

/** The callers that presented a wrong token, by their addresses. */
type FailedLogins = {
  /** Whether this caller must wait before its next attempt is checked. */
  mustWait(caller: string): boolean
  add(caller: string): void
}

const maxFailures = 10
/** The time after which one failure is forgotten. */
const forgetMs = 6_000
/**
 * The maximum number of remembered addresses: even with more, guesses would not find a token of the required length.
 */
const maxCallers = 1_000

/**
 * Starts without failures. Each caller has a few attempts, then one every few seconds, and no caller delays another.
 */
export function failedLogins(now: () => number): FailedLogins {
  const callers = new Map<string, { count: number; atMs: number }>()
  const countOf = (caller: string) => {
    const { count = 0, atMs = 0 } = callers.get(caller) ?? {}
    return Math.max(0, count - (now() - atMs) / forgetMs)
  }
  return {
    mustWait: (caller) => countOf(caller) > maxFailures - 1,
    add(caller) {
      const count = countOf(caller) + 1
      // The first entry of the map is the caller that failed least recently.
      callers.delete(caller)
      callers.set(caller, { count, atMs: now() })
      if (callers.size > maxCallers) callers.delete(callers.keys().next().value ?? '')
    },
  }
}
