import type { Marks } from '../ports/cloud.ts'

/** Marks as Equinix Metal stores them: a list of texts, `key=value`, or the key alone if the value is empty. */
export function formatTags(marks: Marks): string[] {
  return Object.entries(marks).map(([key, value]) => (value === '' ? key : `${key}=${value}`))
}

/**
 * The marks in a list of tags. A key with two different values is no mark: it does not prove whose reservation this is.
 * Without that proof we never delete a reservation.
 */
export function parseTags(tags: readonly string[]): Marks {
  const marks = new Map<string, string>()
  const contradicted = new Set<string>()
  for (const tag of tags) {
    // The first `=` ends the key: base64 values end with more of them.
    const [key = '', ...rest] = tag.split('=')
    const value = rest.join('=')
    if (marks.has(key) && marks.get(key) !== value) contradicted.add(key)
    marks.set(key, value)
  }
  return Object.fromEntries([...marks].filter(([key]) => key !== '' && !contradicted.has(key)))
}

/** A list of tags with some marks changed: an undefined mark is removed, and other tags stay. */
export function changeTags(tags: readonly string[], marks: Record<string, string | undefined>): string[] {
  const others = tags.filter((tag) => !((tag.split('=')[0] ?? '') in marks))
  const kept = Object.entries(marks).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return [...others, ...formatTags(Object.fromEntries(kept))]
}
