import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { type PastMove, movePauseMs, rememberedMoves } from './move-pause.ts'
import type { MoveReason, Pause } from './move-plan.ts'

/** Remembers moves and tries, and tells how long the next one waits. */
export type MoveAttempts = {
  succeeded(): void
  /** `retryAfterMs` is what the cloud asked for. */
  failed(error: string, retryAfterMs: number): void
  /** The try waited in vain for its turn among many calls: the next one waits less than after a failure. */
  postponed(error: string): void
  /** The cloud shows that the last try, for this reason, moved the address. */
  settle(reason: MoveReason): void
  pause(reason: MoveReason): Pause | undefined
}

const retry = { firstMs: 1_000, maxMs: 15_000 }
/** A hundred moves take their turns within seconds. A cloud that refuses for longer is not asked for ever. */
const turn = { firstMs: 500, maxMs: 15_000 }
const patience = 10

/** No move and no try so far. */
export function moveAttempts({ cooldownMs, clock }: { cooldownMs: number; clock: Clock }): MoveAttempts {
  /** For facts and for suspicions, each as many as count. */
  let moves: PastMove[] = []
  /** Since the last move that the cloud has shown. */
  let tries = 0
  let postponements = 0
  let [notBeforeMs, why] = [-Infinity, '']
  const waitFor = (ms: number, because: string) => {
    notBeforeMs = clock.now() + ms
    why = because
  }
  return {
    succeeded() {
      tries += 1
      waitFor(backoffMs(tries, retry), 'the provider does not show the last move yet')
    },
    failed(error, retryAfterMs) {
      tries += 1
      // The first failure is often a lost answer, and a look tells.
      const waitMs = tries > 1 ? backoffMs(tries - 1, retry) : 0
      waitFor(Math.max(waitMs, retryAfterMs), `the last try failed: ${error}`)
    },
    postponed(error) {
      postponements += 1
      waitFor(backoffMs(Math.ceil(postponements / patience), turn), `the last try failed: ${error}`)
    },
    settle(reason) {
      tries = 0
      postponements = 0
      notBeforeMs = -Infinity
      moves = [...moves, { atMs: clock.now(), reason }].slice(-2 * rememberedMoves)
    },
    pause(reason) {
      const nowMs = clock.now()
      const again = { ms: notBeforeMs - nowMs, why }
      const cool = { ms: movePauseMs(reason, { nowMs, moves, cooldownMs }), why: 'it moved often lately' }
      const longer = again.ms > cool.ms ? again : cool
      return longer.ms > 0 ? longer : undefined
    },
  }
}
