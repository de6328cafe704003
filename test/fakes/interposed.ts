export type HeardCall = { verb: string; values: unknown[] }

export type Hooks = {
  /** Runs before a call arrives. It may wait, or throw: then the call is never made. */
  before?: ((call: HeardCall) => void | Promise<void>) | undefined
  /** Runs after a call was made. If it throws, the caller gets this error instead of the answer. */
  after?: ((call: HeardCall) => void | Promise<void>) | undefined
}

/** The same object with hooks around its asynchronous functions. The hooks may change at any time. */
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
