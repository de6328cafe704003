/** Behaviour of a vendor's API that is undocumented: each case with its possible values, the default first. */
export type BehaviourChoices = Record<string, readonly [string, ...string[]]>

export type BehaviourOf<Q extends BehaviourChoices> = { -readonly [Name in keyof Q]: Q[Name][number] }

/** Returns one value for each case: those that are given, otherwise the default. Throws for an unknown case or value. */
export function chooseValues<Q extends BehaviourChoices>(
  choices: Q,
  given: Partial<BehaviourOf<Q>> = {},
): BehaviourOf<Q> {
  for (const [name, value] of Object.entries<string | undefined>(given)) {
    const allowed = Object.hasOwn(choices, name) ? choices[name] : undefined
    if (!allowed) throw new Error(`unknown "${name}": expected one of ${Object.keys(choices).join(', ')}`)
    if (value === undefined || !allowed.includes(value))
      throw new Error(`${name}=${value}: expected one of ${allowed.join(', ')}`)
  }
  const defaults = Object.entries(choices).map(([name, [first]]) => [name, first])
  return { ...(Object.fromEntries(defaults) as BehaviourOf<Q>), ...given }
}
