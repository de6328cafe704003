import { type Clock, systemClock } from '../../kube/clock.ts'

/** The machine's clock, so many times as fast: for loops that pause between steps which take their real time. */
export function quickClock(times: number): Clock {
  return {
    now: () => systemClock.now() * times,
    date: () => new Date(),
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  }
}
