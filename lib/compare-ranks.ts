/** Sorts by the first place in which two ranks differ; the lower one comes first. */
export function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((value, at) => value - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
