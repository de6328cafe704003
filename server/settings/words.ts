import { distance } from 'fastest-levenshtein'

/** The word that was probably meant, if one is near enough to be a slip of the hand. */
export function closest(given: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, steps: distance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, steps }) => steps <= 3 && steps <= word.length / 2)
    .sort((one, other) => one.steps - other.steps)
  return ranked[0]?.word
}

/** Words as people list them: `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}
