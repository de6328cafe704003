import { isIPv4 } from 'node:net'

// Hand-written instead of using a validator such as valibot: a wrong or unknown field must cost only that field. A
// schema would need a fallback for each field, and be longer than these readers.

/** A JSON object from a vendor, whose fields may contain anything. */
export type Fields = Record<string, unknown>

/** The fields of a JSON object; empty if the value is not one. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** A non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** An id as text: vendors send texts or numbers, and 0 means none. */
export function idOf(value: unknown): string | undefined {
  return textOf(value) ?? (countOf(value) === 0 ? undefined : countOf(value)?.toString())
}

/** A whole number. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? Number(value) : undefined
}

/** The items of a JSON array; undefined if the value is not one. */
export function itemsOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** The non-empty strings in a JSON array; none if the value is not one. */
export function textsOf(value: unknown): string[] {
  return itemsOf(value)?.flatMap((item) => textOf(item) ?? []) ?? []
}

/** The number of an autonomous system. Zero is reserved, and routers refuse it. */
export function asnOf(value: unknown): number | undefined {
  const number = countOf(value) ?? 0
  return number >= 1 && number <= 4_294_967_295 ? number : undefined
}

/** The addresses of peers, without duplicates and in numerical order; undefined if one of them is invalid. */
export function peerAddressesOf(value: unknown): string[] | undefined {
  const addresses = itemsOf(value)
  if (!addresses?.every(isAddress)) return undefined
  return [...new Set(addresses)].toSorted((one, other) => numberOf(one) - numberOf(other))
}

/** Whether a value is an address that a BGP session can use. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isIPv4(value)
}

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}
