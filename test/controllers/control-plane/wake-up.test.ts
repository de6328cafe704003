import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wakeUp } from '../../../controllers/control-plane/wake-up.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

test('a call ends a wait, a call between two waits ends the next one, and no wait leaves a listener behind', async () => {
  const clock = fakeClock()
  const { signal } = new AbortController()
  const wakes = wakeUp(clock)
  const first = wakes.wait(60_000, signal)
  wakes.wake()
  await first
  wakes.wake()
  await wakes.wait(60_000, signal)
  const third = wakes.wait(1_000, signal)
  await clock.pass(1_000)
  await third
  assert.equal(getEventListeners(signal, 'abort'), [])
})

test.run()
