import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { untilAborted } from '../../lib/time-limit.ts'

const never = new Promise<string>(() => {})
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => String(error),
  )

test('work that ends in time gives its result or its error', async () => {
  const { signal } = new AbortController()
  assert.is(await untilAborted(Promise.resolve('done'), signal), 'done')
  assert.is(await errorOf(untilAborted(Promise.reject(new Error('bad')), signal)), 'Error: bad')
})

test('at the abort the caller leaves, with the reason of the signal', async () => {
  const caller = new AbortController()
  const waiting = errorOf(untilAborted(never, caller.signal))
  caller.abort(new Error('over'))
  assert.is(await waiting, 'Error: over')
  assert.is(await errorOf(untilAborted(never, caller.signal)), 'Error: over')
})

test('work that fails after its caller has gone is no unhandled rejection', async () => {
  const work = Promise.withResolvers<string>()
  assert.is(await errorOf(untilAborted(work.promise, AbortSignal.abort(new Error('over')))), 'Error: over')
  work.reject(new Error('late'))
  await new Promise((done) => setImmediate(done))
})

test('no listener stays on the signal', async () => {
  const { signal } = new AbortController()
  await untilAborted(Promise.resolve(), signal)
  assert.equal(getEventListeners(signal, 'abort'), [])
})

test.run()
