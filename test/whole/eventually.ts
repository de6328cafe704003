import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Remembers what was looked at, for the words of a failure. */
export type See = <T>(seen: T) => T

/** How often it is looked: what takes longer than a moment takes a while, and many tests wait at once. */
const [atFirstMs, thenMs, momentMs] = [50, 200, 1_000]

/** Looks until there is an answer; throws after `withinMs` with what was seen last. */
export async function eventually<T>(
  what: string,
  look: (see: See) => Promise<T | undefined> | T | undefined,
  withinMs = 40_000,
): Promise<T> {
  const startedMs = performance.now()
  let last: unknown
  const see: See = (seen) => {
    last = seen
    return seen
  }
  for (;;) {
    const answer = await look(see)
    if (answer !== undefined) return answer
    const passedMs = performance.now() - startedMs
    if (passedMs > withinMs) {
      throw new Error(`not within ${withinMs / 1000} s: ${what}; seen last: ${inspect(last, { depth: 8 })}`)
    }
    await sleep(passedMs < momentMs ? atFirstMs : thenMs)
  }
}
