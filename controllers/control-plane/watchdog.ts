import type { Clock } from '../../kube/clock.ts'
import { repeatLater } from '../../lib/repeat.ts'

/** Longer than any turn can take, because each of its calls has a time-out. */
const maxTurnMs = 60_000
const checkEveryMs = 5_000

/** Detects a loop that no longer turns, for whatever reason. A new process then starts from scratch. */
export function makeWatchdog(clock: Clock) {
  let turnedAtMs: number | undefined
  return {
    /** Records a turn of the loop. From the first one on, it must turn. */
    turn: () => void (turnedAtMs = clock.now()),
    /** Marks the end of the loop. */
    end: () => void (turnedAtMs = undefined),
    /** Calls `onStall` once when the loop stalls; ends with the signal. */
    async watch(signal: AbortSignal, onStall: (ms: number) => void) {
      const check = () => {
        const stalledForMs = clock.now() - (turnedAtMs ?? Infinity)
        if (stalledForMs < maxTurnMs) return undefined
        onStall(stalledForMs)
        return 'over'
      }
      await repeatLater(check, { everyMs: checkEveryMs, signal, clock })
    },
  }
}

export type Watchdog = ReturnType<typeof makeWatchdog>
