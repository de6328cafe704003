/** An id as text: servers, projects and regions have numbers, addresses have UUIDs; 0 means none. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined
}
