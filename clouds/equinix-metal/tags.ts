import type { Marks } from '../cloud.ts'

/** Marks as Equinix Metal keeps them: a list of strings, `key=value`, or the key alone where the value is empty. */
export function formatTags(marks: Marks): string[] {
  return Object.entries(marks).map(([key, value]) => (value === '' ? key : `${key}=${value}`))
}

/**
 * The marks in a list of tags. A key that comes with two values is no mark: whose reservation it is cannot be told from
 * it, and what is nobody's is never given back.
 */
export function parseTags(tags: readonly string[]): Marks {
  const marks = new Map<string, string>()
  const contradicted = new Set<string>()
  for (const tag of tags) {
    // The first sign ends the key: base64 values end in more of them.
    const [key = '', ...rest] = tag.split('=')
    const value = rest.join('=')
    if (marks.has(key) && marks.get(key) !== value) contradicted.add(key)
    marks.set(key, value)
  }
  return Object.fromEntries([...marks].filter(([key]) => key !== '' && !contradicted.has(key)))
}

/** A list of tags with some marks changed: an undefined one goes, and tags of others stay as they are. */
export function changeTags(tags: readonly string[], marks: Record<string, string | undefined>): string[] {
  const others = tags.filter((tag) => !((tag.split('=')[0] ?? '') in marks))
  const kept = Object.entries(marks).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return [...others, ...formatTags(Object.fromEntries(kept))]
}
