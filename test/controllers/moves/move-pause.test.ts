import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { movePauseMs } from '../../../controllers/moves/move-pause.ts'
import type { MoveReason } from '../../../controllers/moves/move-plan.ts'

const nowMs = 1_000_000
const cooldownMs = 30_000

/** Moves so many seconds ago. */
function pauseAfter(reason: MoveReason, secondsAgo: number[]): number {
  const movedAtMs = secondsAgo.map((seconds) => nowMs - seconds * 1000)
  return movePauseMs(reason, { nowMs, movedAtMs, cooldownMs }) / 1000
}

const rows: [reason: MoveReason, secondsAgo: number[], pause: number][] = [
  ['failed', [], 0],
  ['failed', [1], 0],
  ['failed', [2, 1], 0],
  ['failed', [3, 2, 1], 29],
  ['failed', [40, 35, 31], 0],
  ['failed', [40, 3, 2, 1], 59],
  ['failed', [9, 8, 7, 6, 5, 4, 3, 2, 1], 239],
  ['failed', [301, 3, 2], 0],
  ['leaving', [2, 1], 0],
  ['leaving', [3, 2, 1], 29],
  ['several', [3, 2, 1], 29],
  ['unreachable', [1], 29],
  ['unreachable', [2, 1], 59],
  ['unassigned', [4, 3, 2, 1], 0],
]

for (const [reason, secondsAgo, pause] of rows)
  test(`${reason}, with moves ${secondsAgo.join(', ') || 'never'} seconds ago: ${pause} s`, () => {
    assert.is(pauseAfter(reason, secondsAgo), pause)
  })

test.run()
