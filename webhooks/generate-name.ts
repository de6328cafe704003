import { randomInt } from 'node:crypto'

// The API server's own rule for generateName: 5 of these characters behind a prefix cut to fit 63.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxLength = 63

/** A name for a Service that came with generateName: known now, it is a natural key for the reservation. */
export function generateName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, maxLength - suffixLength) + suffix
}
