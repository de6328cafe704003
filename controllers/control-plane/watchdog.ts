import type { Clock } from '../../kube/clock.ts'
import { repeatLater } from '../../lib/repeat.ts'

export type Watchdog = {
  /** The loop turned. */
  turn: () => void
  /** The loop begins or ends; between, it has to turn. */
  begin(): void
  end(): void
  /** How long the loop has not turned although it runs. */
  stalledForMs(): number
  /** Calls `onStall` once when the loop stalls; ends with the signal. */
  watch(signal: AbortSignal, onStall: (ms: number) => void): Promise<void>
}

/** Longer than every turn can take: each of its calls has a time-out. */
const maxTurnMs = 60_000
const checkEveryMs = 5_000

/** Notices a loop that no longer turns, whatever it waits for: a new process looks at everything again. */
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
