/** How much of a value a message quotes: enough to recognize it. Users decide how long their values are. */
const maxCharacters = 100

/** How many items a message lists. */
const maxItems = 10

/** A value in quotes, cut where it is long. Before validation it may be of any type. */
export function quote(given: unknown): string {
  const value = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  // A character may consist of two code units; no more than these are needed.
  const characters = Array.from(value.slice(0, 2 * maxCharacters + 1))
  if (characters.length <= maxCharacters) return JSON.stringify(value)
  return `${JSON.stringify(`${characters.slice(0, maxCharacters).join('')}…`)} (${value.length} characters)`
}

/** The first items, and how many more there are. */
export function firstItems(items: readonly string[], max = maxItems): string[] {
  return items.length > max ? [...items.slice(0, max), `and ${items.length - max} more`] : [...items]
}
