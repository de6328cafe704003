import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Remembers what was looked at, for the words of a failure. */
export type See = <T>(seen: T) => T

/** Looks until there is an answer; throws after `withinMs` with what was seen last. */
export async function eventually<T>(
  what: string,
  look: (see: See) => Promise<T | undefined> | T | undefined,
  withinMs = 20_000,
): Promise<T> {
  const endMs = performance.now() + withinMs
  let last: unknown
  const see: See = (seen) => {
    last = seen
    return seen
  }
  for (;;) {
    const answer = await look(see)
    if (answer !== undefined) return answer
    if (performance.now() > endMs) {
      throw new Error(`not within ${withinMs / 1000} s: ${what}; seen last: ${inspect(last, { depth: 8 })}`)
    }
    await sleep(50)
  }
}
