import type { Clock } from '../../kube/clock.ts'

/** Ends a wait early. A call between two waits ends the next wait at once. */
export type WakeUp = {
  wake(): void
  /** Waits at most `ms`, or until the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** Makes a wake-up without a pending call. */
export function wakeUp(clock: Clock): WakeUp {
  let isCalled = false
  let call = () => {}
  return {
    wake() {
      isCalled = true
      call()
    },
    async wait(ms, signal) {
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
