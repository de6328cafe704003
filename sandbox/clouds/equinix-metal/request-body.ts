import { unprocessable } from './errors.ts'

/** Returns the list of strings that a client sent; an empty list when absent. Throws 422 for anything else. */
export function listOfText(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw unprocessable(`${field} must be a list of strings`)
}
