/** A JSON object of a vendor, of which nothing is believed before it is looked at. */
export type Fields = Record<string, unknown>

/** The fields of a JSON object; none where it is not one. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** A string that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A number that counts something. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? Number(value) : undefined
}

/** The items of a JSON array; undefined where it is not one. */
export function itemsOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
