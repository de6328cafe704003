/** What nobody outside a vendor knows for sure: each question with its possible answers, the default first. */
export type BehaviourChoices = Record<string, readonly [string, ...string[]]>

export type BehaviourOf<Q extends BehaviourChoices> = { -readonly [Name in keyof Q]: Q[Name][number] }

/** The default answer to every question, with those that are given. */
export function answer<Q extends BehaviourChoices>(
  behaviourChoices: Q,
  given: Partial<BehaviourOf<Q>> = {},
): BehaviourOf<Q> {
  for (const [question, chosen] of Object.entries<string | undefined>(given)) {
    const allowed = Object.hasOwn(behaviourChoices, question) ? behaviourChoices[question] : undefined
    if (!allowed) throw new Error(`unknown "${question}": expected one of ${Object.keys(behaviourChoices).join(', ')}`)
    if (chosen === undefined || !allowed.includes(chosen))
      throw new Error(`${question}=${chosen}: expected one of ${allowed.join(', ')}`)
  }
  const defaults = Object.entries(behaviourChoices).map(([question, [first]]) => [question, first])
  return { ...(Object.fromEntries(defaults) as BehaviourOf<Q>), ...given }
}
