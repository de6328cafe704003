import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { movePauseMs } from '../../../controllers/moves/mover.ts'
import type { MoveReason } from '../../../controllers/moves/move-plan.ts'

const nowMs = 1_000_000
const cooldownMs = 30_000

/** Moves so many seconds ago, all for one reason. */
function pauseAfter(reason: MoveReason, [before, secondsAgo]: Before): number {
  const moves = secondsAgo.map((seconds) => ({ atMs: nowMs - seconds * 1000, reason: before }))
  return movePauseMs(reason, { nowMs, moves, cooldownMs }) / 1000
}

type Before = [reason: MoveReason, secondsAgo: number[]]

const rows: [reason: MoveReason, before: Before, pause: number][] = [
  ['failed', ['failed', []], 0],
  ['failed', ['failed', [1]], 0],
  ['failed', ['failed', [2, 1]], 0],
  ['failed', ['failed', [3, 2, 1]], 29],
  ['failed', ['failed', [40, 35, 31]], 0],
  ['failed', ['failed', [40, 3, 2, 1]], 59],
  ['failed', ['failed', [9, 8, 7, 6, 5, 4, 3, 2, 1]], 239],
  ['failed', ['failed', [301, 3, 2]], 0],
  ['failed', ['leaving', [9, 8, 7, 6, 5, 4, 3, 2, 1]], 0],
  ['several', ['several', [3, 2, 1]], 0],
  ['stranger', ['stranger', [9, 8, 7, 6, 5, 4, 3, 2, 1]], 0],
  ['stranger', ['stranger', [30, 9, 8, 7, 6, 5, 4, 3, 2, 1]], 60],
  ['failed', ['stranger', [3, 2, 1]], 0],
  ['unreachable', ['unreachable', [1]], 29],
  ['unreachable', ['failed', [2, 1]], 59],
  ['leaving', ['leaving', [3, 2, 1]], 0],
  ['leaving', ['failed', [9, 8, 7, 6, 5, 4, 3, 2, 1]], 0],
  ['leaving', ['leaving', [9, 8, 7, 6, 5, 4, 3, 2, 1]], 0],
  ['leaving', ['leaving', [30, 9, 8, 7, 6, 5, 4, 3, 2, 1]], 60],
  ['leaving', ['leaving', [90, 9, 8, 7, 6, 5, 4, 3, 2, 1]], 0],
  ['unassigned', ['leaving', [30, 9, 8, 7, 6, 5, 4, 3, 2, 1]], 60],
]

for (const [reason, before, pause] of rows)
  test(`${reason}, after moves that were ${before[0]} ${before[1].join(', ') || 'never'} seconds ago: ${pause} s`, () => {
    assert.is(pauseAfter(reason, before), pause)
  })

test.run()
