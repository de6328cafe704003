/** Returns the JSON object that a client sent; an empty object for anything else. */
export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Returns the string that a client sent; an empty string for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
