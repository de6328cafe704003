import { parseBaseUrl } from '../../lib/base-url.ts'

/** The base URL of a cloud's API without its trailing slashes; throws if the URL would send credentials in the clear. */
export function requireBaseUrl(vendor: string, baseUrl: string): string {
  const parsed = parseBaseUrl(baseUrl, 'loopback')
  if ('url' in parsed) return parsed.url
  const shown = withoutLogin(baseUrl)
  throw new Error(`${vendor}: base URL "${shown}" ${parsed.problem}; expected one like https://api.example.com/v1`)
}

function withoutLogin(url: string): string {
  return url.replace(/^([^:]*:\/*)?[^/]*@/, '$1…@')
}
