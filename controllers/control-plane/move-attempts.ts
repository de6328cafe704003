import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { movePauseMs } from './move-pause.ts'
import type { MoveReason } from './move-plan.ts'

/** Remembers moves and attempts, and tells how long the next one waits. */
export type MoveAttempts = {
  begin(): void
  succeeded(): void
  failed(): void
  /** The cloud shows that the last attempt moved the address. */
  settle(): void
  pauseMs(reason: MoveReason): number
}

const retry = { firstMs: 1_000, maxMs: 15_000 }
const remembered = 10

/** No move and no attempt so far. */
export function moveAttempts({ cooldownMs, clock }: { cooldownMs: number; clock: Clock }): MoveAttempts {
  let movedAtMs: number[] = []
  /** Since the last move that the cloud has shown. */
  let attempts = 0
  let notBeforeMs = -Infinity
  const waitAfter = (failures: number) => {
    notBeforeMs = clock.now() + backoffMs(failures, retry)
  }
  return {
    begin: () => void (attempts += 1),
    // A cloud may show an assignment a little later than it makes it.
    succeeded: () => waitAfter(attempts),
    failed() {
      // The first failure is often a lost answer, and a look tells.
      if (attempts > 1) waitAfter(attempts - 1)
    },
    settle() {
      attempts = 0
      notBeforeMs = -Infinity
      movedAtMs = [...movedAtMs, clock.now()].slice(-remembered)
    },
    pauseMs(reason) {
      const nowMs = clock.now()
      return Math.max(notBeforeMs - nowMs, movePauseMs(reason, { nowMs, movedAtMs, cooldownMs }))
    },
  }
}
