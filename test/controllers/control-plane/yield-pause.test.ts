import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { yieldPause } from '../../../controllers/control-plane/lead-loop.ts'

test('the pause doubles up to an hour while nobody takes the lease, and is a minute again after somebody did', () => {
  let nowMs = 0
  const pause = yieldPause(() => nowMs)
  /** How long it leads until it yields. */
  const lead = (afterMs: number) => {
    nowMs += afterMs
    pause.lead()
    const beganAtMs = nowMs
    while (!pause.isOver()) nowMs += 500
    pause.yielded()
    return (nowMs - beganAtMs) / 1000
  }
  assert.is(lead(0), 0)
  assert.equal([lead(2_000), lead(2_000), lead(2_000)], [118, 238, 478])
  for (let n = 0; n < 5; n++) lead(2_000)
  assert.is(lead(2_000), 3_598)
  assert.is(lead(600_000), 0)
  assert.is(lead(10_000), 50)
})

test.run()
