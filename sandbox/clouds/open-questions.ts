/** What nobody outside a vendor knows for sure: each question with its possible answers, the default first. */
export type Questions = Record<string, readonly [string, ...string[]]>

export type AnswersTo<Q extends Questions> = { -readonly [Name in keyof Q]: Q[Name][number] }

/** The default answer to every question, with those that are given. */
export function answer<Q extends Questions>(questions: Q, given: Partial<AnswersTo<Q>> = {}): AnswersTo<Q> {
  for (const [question, chosen] of Object.entries<string | undefined>(given)) {
    const allowed = Object.hasOwn(questions, question) ? questions[question] : undefined
    if (!allowed) throw new Error(`unknown "${question}": expected one of ${Object.keys(questions).join(', ')}`)
    if (chosen === undefined || !allowed.includes(chosen))
      throw new Error(`${question}=${chosen}: expected one of ${allowed.join(', ')}`)
  }
  const defaults = Object.entries(questions).map(([question, [first]]) => [question, first])
  return { ...(Object.fromEntries(defaults) as AnswersTo<Q>), ...given }
}
