import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { timeLimit, withTimeLimit } from '../../lib/time-limit.ts'

const limits = { ms: 5, timeoutError: () => new Error('too late') }

/** Waits until the signal aborts, and returns the signal. */
async function untilAborted(signal: AbortSignal) {
  await sleep(1000, undefined, { signal }).catch(() => undefined)
  return signal
}

test('work that takes too long sees its signal abort with the error of the time limit', async () => {
  const late = await withTimeLimit(limits, untilAborted)
  assert.equal([late.aborted, (late.reason as Error).message], [true, 'too late'])
})

test('the signal does not abort when the work ends in time', async () => {
  const quick = await withTimeLimit(limits, (signal) => signal)
  await sleep(20)
  assert.not.ok(quick.aborted)
})

test('an error of the work is thrown, and the time limit ends with the work', async () => {
  let seen: AbortSignal | undefined
  const throwing = withTimeLimit(limits, (signal) => {
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

test('the abort of the caller reaches the work, also when it came before', async () => {
  const caller = new AbortController()
  const running = withTimeLimit({ ...limits, ms: 5_000, signal: caller.signal }, untilAborted)
  caller.abort('shutdown')
  assert.is((await running).reason, 'shutdown')
  const abortError = (reason: unknown) => `canceled: ${String(reason)}`
  const after = await withTimeLimit({ ...limits, signal: caller.signal, abortError }, (signal) => signal)
  assert.equal([after.aborted, after.reason], [true, 'canceled: shutdown'])
})

test('a time limit is over by the clock', async () => {
  assert.not.ok(timeLimit(60_000).isOver())
  const limit = timeLimit(5)
  await untilAborted(limit.signal)
  assert.ok(limit.isOver())
})

test('a time limit longer than a timer of Node can be is not over at once', async () => {
  for (const ms of [2 ** 31, 2 ** 33]) {
    const { signal } = timeLimit(ms)
    // Had the timer overflowed, it would end before this one, which was set later.
    await sleep(5)
    assert.not.ok(signal.aborted)
    await withTimeLimit({ ...limits, ms }, async (ends) => {
      await sleep(5)
      assert.not.ok(ends.aborted)
    })
  }
})

for (const { name, passed, isOver } of [
  { name: 'on neither clock', passed: { ms: 59_999, date: 59_999 }, isOver: false },
  { name: 'by the date alone, because the machine was suspended', passed: { ms: 5, date: 60_000 }, isOver: true },
  {
    name: 'by the monotonic clock alone, because the date was set back',
    passed: { ms: 60_000, date: -1 },
    isOver: true,
  },
]) {
  test(`a time limit is ${isOver ? 'over' : 'not over'} ${name}`, () => {
    let at = { ms: 1_000, date: 2_000_000 }
    const limit = timeLimit(60_000, { now: () => at.ms, date: () => new Date(at.date) })
    at = { ms: at.ms + passed.ms, date: at.date + passed.date }
    assert.is(limit.isOver(), isOver)
  })
}

test.run()
