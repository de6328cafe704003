/** Words as people list them: `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}
