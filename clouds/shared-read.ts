import { CloudError } from './cloud.ts'

/** A read that several callers make at once, made once for all of them. */
export type SharedRead<T> = {
  /** What is read after this was asked for: never what was so before. */
  fresh(signal: AbortSignal): Promise<T>
  /** What was read a moment ago, and after the last change that we made ourselves. */
  recent(signal: AbortSignal): Promise<T>
  /** What was read so far is no longer so: we have changed it. */
  changed(): void
}

export type SharedReadOptions<T> = {
  read: (signal: AbortSignal) => Promise<T>
  /** What is read, for people. */
  what: string
  recentMs: number
}

/** A read that nobody has made yet. At most one is under way, and those who come meanwhile share the one after it. */
export function sharedRead<T>({ read, what, recentMs }: SharedReadOptions<T>): SharedRead<T> {
  let current: Reading<T> | undefined
  let next: Reading<T> | undefined
  let good: { answer: T; begunAtMs: number } | undefined
  let changedAtMs = -Infinity

  const carryOut = async (reading: Reading<T>, ends: AbortSignal) => {
    current = reading
    if (next === reading) next = undefined
    const begunAtMs = performance.now()
    const answer = await read(ends)
    good = { answer, begunAtMs }
    return answer
  }
  const fresh = (signal: AbortSignal) => {
    if (!next || next.isAbandoned()) next = makeReading(carryOut, { what, after: current?.settled })
    return next.join(signal)
  }

  return {
    fresh,
    async recent(signal) {
      const isRecent = good && good.begunAtMs > changedAtMs && performance.now() - good.begunAtMs <= recentMs
      return good && isRecent ? good.answer : fresh(signal)
    },
    changed() {
      changedAtMs = performance.now()
    },
  }
}

type Reading<T> = {
  join(signal: AbortSignal): Promise<T>
  /** Whether everybody who waited for it has gone. */
  isAbandoned(): boolean
  /** That it has ended, one way or the other. */
  settled: Promise<void>
}

type Told = { what: string; after: Promise<void> | undefined }

/** A read that goes on while anybody waits for it. */
function makeReading<T>(
  carryOut: (reading: Reading<T>, ends: AbortSignal) => Promise<T>,
  { what, after }: Told,
): Reading<T> {
  const ends = new AbortController()
  let callers = 0
  const begin = async () => {
    await after
    ends.signal.throwIfAborted()
    return carryOut(reading, ends.signal)
  }
  const reading: Reading<T> = {
    isAbandoned: () => ends.signal.aborted,
    settled: Promise.resolve(),
    async join(signal) {
      callers += 1
      const left = Promise.withResolvers<never>()
      const leave = () => left.reject(givenUp(what, signal.reason))
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      try {
        return await Promise.race([answer, left.promise])
      } finally {
        signal.removeEventListener('abort', leave)
        callers -= 1
        if (callers === 0) ends.abort(givenUp(what, 'nobody waits for it'))
      }
    },
  }
  const answer = begin()
  const settle = () => {}
  reading.settled = answer.then(settle, settle)
  return reading
}

function givenUp(what: string, cause: unknown): CloudError {
  return new CloudError(`reading ${what} was given up`, { fault: 'unavailable', outcome: 'nothing', cause })
}
