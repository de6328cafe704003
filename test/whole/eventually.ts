import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'

/** Keeps a value for the message of a failure, and returns it. */
export type Observe = <T>(seen: T) => T

/** The interval between checks: longer after the first second, because many tests wait at the same time. */
const [firstPeriodMs, laterPeriodMs, laterAfterMs] = [50, 200, 1_000]

/** A machine with shared processors takes this many times longer than a quiet one. */
const patience = 3

/**
 * Calls `look` until it returns a value. A quiet machine has it within `withinMs`. After a multiple of this, throws
 * with the last observed value.
 */
export async function eventually<T>(
  what: string,
  look: (observe: Observe) => Promise<T | undefined> | T | undefined,
  withinMs = 40_000,
): Promise<T> {
  const startedMs = performance.now()
  const lateMs = withinMs * patience
  let last: unknown
  const observe: Observe = (seen) => {
    last = seen
    return seen
  }
  for (;;) {
    const answer = await look(observe)
    if (answer !== undefined) return answer
    const passedMs = performance.now() - startedMs
    if (passedMs > lateMs) {
      throw new Error(`not within ${lateMs / 1000} s: ${what}; last seen: ${inspect(last, { depth: 8 })}`)
    }
    await sleep(passedMs < laterAfterMs ? firstPeriodMs : laterPeriodMs)
  }
}

/** Reads until two successive reads, `apartMs` apart, are equal: pending work has come to rest. */
export async function unchanging<T>(what: string, read: () => Promise<T>, apartMs = 2_500): Promise<T> {
  let last = await read()
  return eventually(`${what} comes to rest`, async (observe) => {
    await sleep(apartMs)
    const before = last
    last = observe(await read())
    return isDeepStrictEqual(last, before) ? last : undefined
  })
}
