import type { IncomingHttpHeaders } from 'node:http'
import type { TokenCheck } from '../settings/token-file.ts'

/** Who asks for the page. */
export type Caller = { headers: IncomingHttpHeaders; remoteAddress: string | undefined }

export type Refusal = { status: 401 | 403 | 429; headers: Record<string, string>; text: string }

/** Why a caller may not see the page; undefined if it may. */
export type Access = (caller: Caller) => Refusal | undefined

/** `isToken` is absent where the page has no token: then only a browser on this machine, or one that is forwarded here, sees it. */
export function pageAccess({ isToken, now }: { isToken: TokenCheck | undefined; now: () => number }): Access {
  if (isToken === undefined) return onlyLoopbackNames
  const failed = failedLogins(now)
  return (caller) => checkToken(caller, isToken, failed)
}

/**
 * A page of the internet may have its name resolve to 127.0.0.1, and would then be allowed to read what the browser finds
 * there. The browser says by which name it came.
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

/** Browsers ask for a user, who does not matter, and a password, which is the token. */
const challenge = { 'www-authenticate': 'Basic realm="eip-admission status page", charset="UTF-8"' }

function givenToken(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

/** Callers who presented a wrong token, by their addresses. */
type FailedLogins = {
  /** Whether this caller has to wait before the next try is looked at. */
  mustWait(caller: string): boolean
  add(caller: string): void
}

const maxFailures = 10
/** After so long one failure is forgotten. */
const forgetMs = 6_000
/** More addresses than this are not remembered: even so many guesses do not find a token of the required length. */
const maxCallers = 1_000

/** No failures yet. Each caller has a few tries, then one every few seconds; nobody waits for another caller. */
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
      // The first of a map is the one that failed least recently.
      callers.delete(caller)
      callers.set(caller, { count, atMs: now() })
      if (callers.size > maxCallers) callers.delete(callers.keys().next().value ?? '')
    },
  }
}
