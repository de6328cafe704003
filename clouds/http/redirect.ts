import type { ResponseHeaders } from './answer.ts'

/** A request that was answered with a redirect. */
export type RedirectedRequest = { url: string; init: { method: string } }

const statuses = [301, 302, 303, 307, 308]

/**
 * The URL to which a read may follow a redirect; undefined if it must not. We follow to the same host only, as the
 * request carries credentials. The scheme stays ours, because an API may redirect to its own address by plain http.
 */
export function redirectUrl(
  { url, init }: RedirectedRequest,
  { status, headers }: { status: number; headers: ResponseHeaders },
) {
  const location = headers.get('location')
  if (init.method !== 'GET' || location === null || !statuses.includes(status)) return undefined
  const asked = new URL(url)
  const next = URL.parse(location, url)
  if (!next || !['http:', 'https:'].includes(next.protocol)) return undefined
  next.protocol = asked.protocol
  next.hash = ''
  const isSameHost = next.host === asked.host && next.username === '' && next.password === ''
  return isSameHost ? next.href : undefined
}
