/** Callers who presented a wrong token, by their addresses. */
export type FailedLogins = {
  /** Whether this caller has to wait before the next try is looked at. */
  mustWait(caller: string): boolean
  add(caller: string): void
}

const maxFailures = 10
/** After so long one failure is forgotten. */
const forgetMs = 6_000
/** More addresses than this are not remembered: even so many guesses do not find a token of the required length. */
const maxCallers = 1_000

/** No failures yet. Each caller has a few tries, then one every few seconds; nobody waits for another caller. */
export function failedLogins(now: () => number): FailedLogins {
  const callers = new Map<string, { count: number; atMs: number }>()
  const countOf = (caller: string) => {
    const { count = 0, atMs = 0 } = callers.get(caller) ?? {}
    return Math.max(0, count - (now() - atMs) / forgetMs)
  }
  return {
    mustWait: (caller) => countOf(caller) > maxFailures - 1,
    add(caller) {
      const count = countOf(caller) + 1
      // The first of a map is the one that failed least recently.
      callers.delete(caller)
      callers.set(caller, { count, atMs: now() })
      if (callers.size > maxCallers) callers.delete(callers.keys().next().value ?? '')
    },
  }
}
