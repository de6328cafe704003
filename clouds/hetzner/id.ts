/** The id of an object as the ports have it: the API has numbers. */
export function idOf(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : undefined
}
