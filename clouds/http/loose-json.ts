// By hand, not with a validator such as valibot: a wrong or unknown field must cost only that field. In a schema each
// field would need a fallback of its own, and the schemas would be longer than these readers.

/** A JSON object of a vendor, whose fields may hold anything. */
export type Fields = Record<string, unknown>

/** The fields of a JSON object; none if the value is not one. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** A string that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A whole number. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? Number(value) : undefined
}

/** The items of a JSON array; undefined if the value is not one. */
export function itemsOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
