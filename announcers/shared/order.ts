import type { Problem } from '../announcer.ts'

/** Compares two texts, with the same result on every machine. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** The texts, sorted and without duplicates. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted(compareTexts)
}

/** The problems, sorted and without duplicates. */
export function distinctProblems(problems: readonly Problem[]): Problem[] {
  const byContent = new Map(problems.map((problem) => [JSON.stringify([problem.subject, problem.message]), problem]))
  return [...byContent].toSorted(([one], [other]) => compareTexts(one, other)).map(([, problem]) => problem)
}

/** The most common text; on a tie, the first in order. Undefined if there are none. */
export function mostCommon(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const [most] = [...counts].toSorted(([one, ones], [other, others]) => others - ones || compareTexts(one, other))
  return most?.[0]
}
