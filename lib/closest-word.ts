import { distance } from 'fastest-levenshtein'

/** The known word that a person probably meant; capitals do not count. `maxEdits` is how many characters may differ. */
export function closestWord(
  given: string,
  known: readonly string[],
  maxEdits: (word: string) => number,
): string | undefined {
  const ranked = known
    .map((word) => ({ word, edits: distance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= maxEdits(word))
    .toSorted((one, other) => one.edits - other.edits)
  return ranked[0]?.word
}
