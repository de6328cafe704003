import type { Problem } from '../announcer.ts'

/** The order of texts, the same on every machine. */
export function inOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** The texts, each once and in order. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted(inOrder)
}

/** The problems, each once and in order. */
export function distinctProblems(problems: readonly Problem[]): Problem[] {
  const said = new Map(problems.map((problem) => [JSON.stringify([problem.concern, problem.message]), problem]))
  return [...said].toSorted(([one], [other]) => inOrder(one, other)).map(([, problem]) => problem)
}

/** What most of the texts say; of equals the first in order. Undefined where there are none. */
export function mostCommon(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const [most] = [...counts].toSorted(([one, ones], [other, others]) => others - ones || inOrder(one, other))
  return most?.[0]
}
