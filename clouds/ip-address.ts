import { isIPv4, isIPv6 } from 'node:net'

/** An address as everybody else writes it, so that texts compare (RFC 5952); undefined where it is none. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (!isIPv6(text) || text.includes('%')) return undefined
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}
