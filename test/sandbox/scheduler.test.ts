import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeScheduler } from '../../sandbox/clouds/scheduler.ts'

test('what is due between two readings of the clock happens, and once', () => {
  let nowMs = 0
  const scheduler = makeScheduler(() => (nowMs += 1))
  let done = 0
  for (let n = 0; n < 7; n += 1) scheduler.schedule(10, () => void (done += 1))
  for (let n = 0; n < 20; n += 1) scheduler.runDue()
  assert.is(done, 7)
})

test.run()
