import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wakeUp } from '../../../controllers/control-plane/wake-up.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

test('a call ends a wait, a call between two waits ends the next one, and no wait leaves a listener behind', async () => {
  const clock = fakeClock()
  const { signal } = new AbortController()
  const { wake, wait } = wakeUp(clock)
  const first = wait(60_000, signal)
  wake()
  await first
  wake()
  await wait(60_000, signal)
  const third = wait(1_000, signal)
  await clock.pass(1_000)
  await third
  assert.equal(getEventListeners(signal, 'abort'), [])
})

test.run()
