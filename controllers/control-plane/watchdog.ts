import type { Clock } from '../../kube/clock.ts'
import { repeatLater } from '../../lib/repeat.ts'

export type Watchdog = {
  /** Records a turn of the loop. */
  turn: () => void
  /** Marks the start and the end of the loop, between which it must turn. */
  begin(): void
  end(): void
  /** How long the running loop has not turned. */
  stalledForMs(): number
  /** Calls `onStall` once when the loop stalls; ends with the signal. */
  watch(signal: AbortSignal, onStall: (ms: number) => void): Promise<void>
}

/** Longer than any turn can take, because each of its calls has a time-out. */
const maxTurnMs = 60_000
const checkEveryMs = 5_000

/** Detects a loop that no longer turns, for whatever reason. A new process then starts from scratch. */
export function makeWatchdog(clock: Clock): Watchdog {
  let turnedAtMs: number | undefined
  const stalledForMs = () => (turnedAtMs === undefined ? 0 : clock.now() - turnedAtMs)
  return {
    turn: () => void (turnedAtMs = clock.now()),
    begin: () => void (turnedAtMs = clock.now()),
    end: () => void (turnedAtMs = undefined),
    stalledForMs,
    async watch(signal, onStall) {
      const check = () => {
        if (stalledForMs() < maxTurnMs) return undefined
        onStall(stalledForMs())
        return 'over'
      }
      await repeatLater(check, { everyMs: checkEveryMs, signal, clock })
    },
  }
}
