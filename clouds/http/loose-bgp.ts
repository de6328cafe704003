import { isIPv4 } from 'node:net'
import { countOf, itemsOf } from './loose-json.ts'

/** The number of an autonomous system. Zero is reserved, and routers refuse it. */
export function asnOf(value: unknown): number | undefined {
  const number = countOf(value) ?? 0
  return number >= 1 && number <= 4_294_967_295 ? number : undefined
}

/** The addresses of peers, each once and in numerical order; undefined if one of them is not an address. */
export function peerAddressesOf(value: unknown): string[] | undefined {
  const addresses = itemsOf(value)
  if (!addresses?.every(isAddress)) return undefined
  return [...new Set(addresses)].toSorted((one, other) => numberOf(one) - numberOf(other))
}

/** Whether a value is an address of a BGP session. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isIPv4(value)
}

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}
