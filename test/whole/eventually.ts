import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'

/** Keeps a value for the message of a failure, and returns it. */
export type Observe = <T>(seen: T) => T

/** The period of the looks: longer after the first second, because many tests wait at the same time. */
const [firstPeriodMs, laterPeriodMs, laterAfterMs] = [50, 200, 1_000]

/** A machine whose processors are shared takes so many times longer than a quiet one. */
const patience = 3

/**
 * Looks until `look` returns a value. Throws with the last observed value after a multiple of `withinMs`, in which a quiet
 * machine has it.
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

/** Reads until two reads in a row, `apartMs` from each other, are equal: what was under way has come to rest. */
export async function unchanging<T>(what: string, read: () => Promise<T>, apartMs = 2_500): Promise<T> {
  let last = await read()
  return eventually(`${what} comes to rest`, async (observe) => {
    await sleep(apartMs)
    const before = last
    last = observe(await read())
    return isDeepStrictEqual(last, before) ? last : undefined
  })
}
