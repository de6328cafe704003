import { distance } from 'fastest-levenshtein'

/** A text as a single terminal line. Users write names and messages, which must not steer the terminal or imitate our lines. */
export function plainText(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}

/** A number of things, whose plural is given: `1 Service`, `2 Services`. */
export function counted(count: number, things: string): string {
  return `${count} ${count === 1 ? things.replace(/(?<=ss)es$|s$/, '') : things}`
}

/** How much of a value a message quotes, so that a person recognizes it. Users decide how long their values are. */
const maxCharacters = 100

/** The maximum number of items that a message lists. */
const maxItems = 10

/** A value in quotes, truncated if long. Before validation it may be of any type. */
export function quote(given: unknown): string {
  const value = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  // A character may consist of two code units, so this many always suffice.
  const characters = Array.from(value.slice(0, 2 * maxCharacters + 1))
  if (characters.length <= maxCharacters) return JSON.stringify(value)
  return `${JSON.stringify(`${characters.slice(0, maxCharacters).join('')}…`)} (${value.length} characters)`
}

/** The first items, and the number of the others. */
export function firstItems(items: readonly string[]): string[] {
  const more = items.length - maxItems
  return more > 0 ? [...items.slice(0, maxItems), `and ${more} more`] : [...items]
}

/**
 * Characters that change how a terminal shows a line and that JSON does not escape:
 * - C1 controls (U+009B begins an escape sequence)
 * - line separators
 * - characters that reverse or hide text
 */
const misleading = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** A log line in which every character is visible. Inside JSON, the value stays the same. */
export function escapeMisleading(line: string): string {
  return line.replace(misleading, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A word quoted for a shell. */
export function shellWord(word: string): string {
  return /^[\w.,:/@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as people list them: `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}

/** The known word that a person probably meant, ignoring case. `maxEdits` limits how many characters may differ. */
export function closestWord(
  given: string,
  known: readonly string[],
  maxEdits: (word: string) => number,
): string | undefined {
  const text = given.toLowerCase()
  const ranked = known
    // Users decide how long their texts are, and each extra character is an edit.
    .filter((word) => Math.abs(word.length - text.length) <= maxEdits(word))
    .map((word) => ({ word, edits: distance(text, word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= maxEdits(word))
    .toSorted((one, other) => one.edits - other.edits)
  return ranked[0]?.word
}
