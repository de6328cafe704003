import { objectOf } from '../request-body.ts'
import { unprocessable } from './errors.ts'

/** Returns the list of strings that a client sent; an empty list when absent. Throws 422 for anything else. */
export function listOfText(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw unprocessable(`${field} must be a list of strings`)
}

/** Reads custom data: an object, or the text of one, which some clients send. */
export function customdataOf(sent: unknown): object {
  if (typeof sent !== 'string') return objectOf(sent)
  if (sent.trim() === '') return {}
  try {
    return objectOf(JSON.parse(sent))
  } catch {
    throw unprocessable('Customdata is not valid JSON')
  }
}
