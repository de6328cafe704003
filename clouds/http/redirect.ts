/** Where an answer with a redirect sends a read on to. */
export type RedirectedRequest = { url: string; init: Pick<RequestInit, 'method'> }

const statuses = [301, 302, 303, 307, 308]

/**
 * The URL that a redirect leads a read on to; undefined where there is none, or one that must not be followed. Only to
 * the host that was asked, which is given the credentials again, and by its scheme: an API may name itself by plain http.
 */
export function redirectUrl(
  { url, init }: RedirectedRequest,
  { status, headers }: { status: number; headers: Headers },
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
