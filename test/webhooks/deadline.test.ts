import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inTime } from '../../webhooks/deadline.ts'

test('a decision that is late hears that its time is over, and in whose words', async () => {
  const late = await inTime(5, async (signal) => {
    await sleep(1000, undefined, { signal }).catch(() => undefined)
    return signal
  })
  assert.ok(late.aborted)
  assert.is((late.reason as Error).message, 'no decision within 5 ms')
})

test('nothing is heard of a deadline when the decision was there before it', async () => {
  const quick = await inTime(5, (signal) => signal)
  await sleep(20)
  assert.not.ok(quick.aborted)
})

test('what a decision throws is thrown, and its deadline is over too', async () => {
  let seen: AbortSignal | undefined
  const throwing = inTime(5, (signal) => {
    seen = signal
    throw new Error('no API server')
  })
  await throwing.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'no API server'),
  )
  await sleep(20)
  assert.is(seen?.aborted, false)
})

test.run()
