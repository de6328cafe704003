import { isDeepStrictEqual } from 'node:util'

export type JsonObject = Record<string, unknown>

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a stored value contains everything wanted; null wants a field to be absent. Other fields do not matter. */
export function includes(stored: unknown, wanted: unknown): boolean {
  if (wanted === null) return stored === undefined || stored === null
  if (!isJsonObject(wanted)) return isDeepStrictEqual(stored, wanted)
  return isJsonObject(stored) && Object.entries(wanted).every(([name, value]) => includes(stored[name], value))
}

/** The wanted part that a stored object lacks, as a merge patch that changes nothing else. */
export function missingFrom(stored: object, wanted: object): object {
  const before: Partial<Record<string, unknown>> = { ...stored }
  const missing = Object.entries(wanted).filter(([name, value]) => !includes(before[name], value))
  return Object.fromEntries(
    missing.map(([name, value]) => {
      const known = before[name]
      return [name, isJsonObject(known) && isJsonObject(value) ? missingFrom(known, value) : (value as unknown)]
    }),
  )
}

/** The fields that have a value. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
