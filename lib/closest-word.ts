import { distance } from 'fastest-levenshtein'

/** The known word that a person probably meant; capitals do not count. `maxEdits` is how many characters may differ. */
export function closestWord(
  given: string,
  known: readonly string[],
  maxEdits: (word: string) => number,
): string | undefined {
  const text = given.toLowerCase()
  const ranked = known
    // Users decide how long their texts are. Each character that one has more than the other is an edit.
    .filter((word) => Math.abs(word.length - text.length) <= maxEdits(word))
    .map((word) => ({ word, edits: distance(text, word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= maxEdits(word))
    .toSorted((one, other) => one.edits - other.edits)
  return ranked[0]?.word
}
