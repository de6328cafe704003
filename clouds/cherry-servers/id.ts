/** Servers, projects and regions are numbered, addresses have UUIDs; 0 is nobody. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined
}
