export type HeardCall = { verb: string; values: unknown[] }

export type Hooks = {
  /** Runs before a call arrives: it may wait, or throw as if the call never had. */
  before?: ((call: HeardCall) => void | Promise<void>) | undefined
  /** Runs after a call was carried out: what it throws is all that the caller sees of it. */
  after?: ((call: HeardCall) => void | Promise<void>) | undefined
}

/** The same object, with something between its callers and its asynchronous functions. The hooks may be changed at any time. */
export function interposed<T extends object>(target: T, hooks: Hooks): T {
  return new Proxy(target, {
    get(of, verb) {
      const member: unknown = Reflect.get(of, verb)
      if (typeof member !== 'function' || typeof verb !== 'string') return member
      return async (...values: unknown[]) => {
        await hooks.before?.({ verb, values })
        const answer: unknown = await member.apply(of, values)
        await hooks.after?.({ verb, values })
        return answer
      }
    },
  })
}
