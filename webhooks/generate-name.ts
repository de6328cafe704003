import { randomInt } from 'node:crypto'

// The API server's rule for generateName: 5 of these characters after the prefix, which is cut so that the name has 63.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxLength = 63

/** The name of a Service with generateName. We choose it at admission, because the record of the Service is named by it. */
export function generateName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, maxLength - suffixLength) + suffix
}
