import type { Clock } from '../../kube/clock.ts'

export type WakeUp = ReturnType<typeof wakeUp>

/** Ends a wait early. A call between two waits ends the next wait at once. No call is pending at first. */
export function wakeUp(clock: Clock) {
  let isCalled = false
  let call = () => {}
  return {
    wake() {
      isCalled = true
      call()
    },
    /** Waits at most `ms`, or until the signal aborts. */
    async wait(ms: number, signal: AbortSignal) {
      const ends = new AbortController()
      call = () => ends.abort()
      signal.addEventListener('abort', call, { once: true })
      if (!isCalled && !signal.aborted) await clock.sleep(ms, ends.signal)
      signal.removeEventListener('abort', call)
      call = () => {}
      isCalled = false
    },
  }
}
