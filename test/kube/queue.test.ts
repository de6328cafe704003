import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Key } from '../../kube/objects.ts'
import { type Process, type QueueOptions, queue } from '../../kube/queue.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { heardLog } from './heard-log.ts'

type Run = {
  keys: ReturnType<typeof queue>
  clock: FakeClock
  log: ReturnType<typeof heardLog>
  stop: AbortController
  /** Keys in the order in which their processing began. */
  begun: Key[]
  /** Ends the processing of a key that is in work. */
  end: (key: Key, error?: Error) => Promise<void>
}

/** A queue whose keys stay in work until the test ends them. */
async function withQueue(test: (run: Run) => Promise<void>, options: Partial<QueueOptions> = {}): Promise<void> {
  const [clock, log, stop] = [fakeClock(), heardLog(), new AbortController()]
  const keys = queue({ log, clock, firstMs: 100, maxMs: 1_000, ...options })
  const begun: Key[] = []
  const inWork = new Map<Key, PromiseWithResolvers<void>>()
  const process: Process = (key) => {
    begun.push(key)
    const work = Promise.withResolvers<void>()
    assert.not.ok(inWork.has(key), `${key} is in work twice`)
    inWork.set(key, work)
    return work.promise.finally(() => inWork.delete(key))
  }
  const running = keys.run(process, stop.signal)
  await test({
    keys,
    clock,
    log,
    stop,
    begun,
    async end(key, error) {
      if (error) inWork.get(key)?.reject(error)
      else inWork.get(key)?.resolve()
      await turn()
    },
  })
  stop.abort()
  for (const work of inWork.values()) work.resolve()
  await running
}

test('keys are processed in the order of their arrival, as many at once as there are workers', () =>
  withQueue(
    async ({ keys, begun, end }) => {
      for (const key of ['a', 'b', 'c', 'd']) keys.add(key)
      await turn()
      assert.equal([begun, keys.length], [['a', 'b'], 2])
      await end('b')
      assert.equal([begun, keys.length], [['a', 'b', 'c'], 1])
      await end('a')
      assert.equal([begun, keys.length], [['a', 'b', 'c', 'd'], 0])
    },
    { concurrency: 2 },
  ))

test('a key that is added while it is in work is processed once more, and only when that has ended', () =>
  withQueue(
    async ({ keys, begun, end }) => {
      keys.add('a')
      await turn()
      for (let i = 0; i < 5; i++) keys.add('a')
      await turn()
      assert.equal([begun, keys.length], [['a'], 0])
      await end('a')
      assert.equal(begun, ['a', 'a'])
      await end('a')
      assert.equal(begun, ['a', 'a'])
    },
    { concurrency: 3 },
  ))

test('a thousand changes of twenty objects are few runs, and none of an object twice at once', async () => {
  const [log, stop] = [heardLog(), new AbortController()]
  const keys = queue({ log, concurrency: 4 })
  const inWork = new Set<Key>()
  const last = new Map<Key, number>()
  const seen = new Map<Key, number>()
  let runs = 0
  const running = keys.run(async (key) => {
    assert.not.ok(inWork.has(key))
    inWork.add(key)
    seen.set(key, last.get(key) ?? 0)
    runs += 1
    await turn()
    inWork.delete(key)
  }, stop.signal)
  for (let i = 0; i < 1_000; i++) {
    const key = `default/${i % 20}`
    last.set(key, i)
    keys.add(key)
    if (i % 100 === 0) await turn()
  }
  while (keys.length > 0 || inWork.size > 0) await turn()
  assert.equal(seen, last)
  assert.ok(runs >= 20 && runs <= 220, `${runs} runs`)
  stop.abort()
  await running
  assert.equal(log.lines, [])
})

test('a key that fails waits twice as long each time, up to the most, until it is well', () =>
  withQueue(async ({ keys, clock, begun }) => {
    const full = [100, 200, 400, 800, 1_000, 1_000]
    for (const [i, most] of full.entries()) {
      const ms = keys.failed('a')
      assert.ok(ms >= most / 2 && ms <= most, `failure ${i + 1}: ${ms} ms`)
      await clock.pass(ms)
      assert.is(begun.length > 0, true)
    }
    keys.forget('a')
    assert.ok(keys.failed('a') <= 100)
    assert.ok(keys.failed('b') <= 100)
  }))

test('a delayed key comes when its time is over, at the earliest of several', () =>
  withQueue(async ({ keys, clock, begun, end }) => {
    keys.addAfter('a', 500)
    keys.addAfter('a', 200)
    keys.addAfter('a', 900)
    await clock.pass(199)
    assert.equal(begun, [])
    await clock.pass(1)
    assert.equal(begun, ['a'])
    await end('a')
    await clock.pass(5_000)
    assert.equal(begun, ['a'])
  }))

test('a delay of nothing is no delay', () =>
  withQueue(async ({ keys, begun }) => {
    keys.addAfter('a', 0)
    await turn()
    assert.equal(begun, ['a'])
  }))

test('what processing throws is logged and tried again later', () =>
  withQueue(async ({ keys, clock, begun, log, end }) => {
    keys.add('a')
    await turn()
    await end('a', new Error('a bug'))
    const [line] = log.lines
    assert.equal([line?.level, line?.fields.key, line?.message], ['error', 'a', 'processing threw'])
    await clock.pass(100)
    assert.equal(begun, ['a', 'a'])
  }))

test('an abort waits for what is in work and begins nothing more', () =>
  withQueue(async ({ keys, clock, begun, log, stop, end }) => {
    keys.add('a')
    keys.add('b')
    keys.addAfter('c', 100)
    await turn()
    stop.abort()
    keys.add('d')
    await end('a', new Error('cut short'))
    await clock.pass(1_000)
    assert.equal(begun, ['a'])
    assert.equal(log.lines, [])
  }))

test('an abort is heard by workers that wait while another is in work', async () => {
  const stop = new AbortController()
  const keys = queue({ log: heardLog(), concurrency: 3 })
  const running = keys.run(() => turn().then(() => stop.abort()), stop.signal)
  await turn()
  keys.add('a')
  assert.is(await Promise.race([running.then(() => 'all have ended'), sleep(1_000, 'some wait')]), 'all have ended')
})

test('what is to come later is not waited for while nobody runs the queue', async () => {
  const clock = fakeClock()
  const keys = queue({ log: heardLog(), clock })
  const begun: Key[] = []
  const runFor = async (ms: number) => {
    const stop = new AbortController()
    const running = keys.run(async (key) => void begun.push(key), stop.signal)
    await clock.pass(ms)
    stop.abort()
    await running
  }
  keys.addAfter('before', 100)
  await runFor(1_000)
  keys.addAfter('between', 100)
  await clock.pass(1_000)
  await runFor(1_000)
  assert.equal([begun, keys.length], [[], 0])
})

test('a queue that is aborted before it runs does not run', async () => {
  const keys = queue({ log: heardLog() })
  keys.add('a')
  await keys.run(() => Promise.reject(new Error('it ran')), AbortSignal.abort())
  assert.is(keys.length, 1)
})

test.run()
