import { isIPv4 } from 'node:net'

/** The base URL of a cloud's API without its trailing slash; a setting that would send credentials in the clear is refused. */
export function parseBaseUrl(cloud: string, baseUrl: string): string {
  const wrong = (why: string) =>
    new Error(`${cloud}: base URL "${withoutLogin(baseUrl)}" ${why}; expected one like https://api.example.com/v1`)
  const url = URL.parse(baseUrl)
  if (!url) throw wrong('is not a URL')
  if (url.username || url.password) throw wrong('carries a login')
  if (url.search || url.hash) throw wrong('carries a query or a fragment')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw wrong('is not https, which only a loopback host may do without')
  return url.href.replace(/\/+$/, '')
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}

function withoutLogin(url: string): string {
  return url.replace(/^([^:]*:\/*)?[^/]*@/, '$1…@')
}
