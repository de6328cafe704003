import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Key } from '../../kube/objects.ts'
import { type Process, type QueueOptions, queue } from '../../kube/queue.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { recordedLog } from './recorded-log.ts'

type Run = {
  keys: ReturnType<typeof queue>
  clock: FakeClock
  log: ReturnType<typeof recordedLog>
  stop: AbortController
  /** Keys in the order in which their processing started. */
  started: Key[]
  /** Finishes the processing of a key. */
  finish: (key: Key, error?: Error) => Promise<void>
}

/** A queue whose keys are processed until the test finishes them. */
async function withQueue(test: (run: Run) => Promise<void>, options: Partial<QueueOptions> = {}): Promise<void> {
  const [clock, log, stop] = [fakeClock(), recordedLog(), new AbortController()]
  const keys = queue({ log, clock, firstMs: 100, maxMs: 1_000, ...options })
  const started: Key[] = []
  const processing = new Map<Key, PromiseWithResolvers<void>>()
  const processedTwice: Key[] = []
  const process: Process = (key) => {
    started.push(key)
    // An assertion that throws here would only be retried.
    if (processing.has(key)) return Promise.resolve(void processedTwice.push(key))
    const work = Promise.withResolvers<void>()
    processing.set(key, work)
    return work.promise.finally(() => processing.delete(key))
  }
  const running = keys.run(process, stop.signal)
  await test({
    keys,
    clock,
    log,
    stop,
    started,
    async finish(key, error) {
      if (error) processing.get(key)?.reject(error)
      else processing.get(key)?.resolve()
      await turn()
    },
  })
  stop.abort()
  for (const work of processing.values()) work.resolve()
  await running
  assert.equal(processedTwice, [], 'processed twice at a time')
}

test('keys are processed in order, as many at a time as there are workers', () =>
  withQueue(
    async ({ keys, started, finish }) => {
      for (const key of ['a', 'b', 'c', 'd']) keys.add(key)
      await turn()
      assert.equal([started, keys.length], [['a', 'b'], 2])
      await finish('b')
      assert.equal([started, keys.length], [['a', 'b', 'c'], 1])
      await finish('a')
      assert.equal([started, keys.length], [['a', 'b', 'c', 'd'], 0])
    },
    { concurrency: 2 },
  ))

test('a single key, which wakes all workers, ends none of them', () =>
  withQueue(
    async ({ keys, started, finish }) => {
      await turn()
      keys.add('a')
      await turn()
      await finish('a')
      for (const key of ['b', 'c', 'd']) keys.add(key)
      await turn()
      assert.equal(started, ['a', 'b', 'c', 'd'])
    },
    { concurrency: 3 },
  ))

test('a key that is added again while workers wake up is not processed twice at a time', () =>
  withQueue(
    async ({ keys, started, finish }) => {
      await turn()
      // Each number of microtasks: the key may be between the queue and its worker.
      for (let ticks = 0; ticks < 8; ticks += 1) {
        keys.add('a')
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
        keys.add('a')
        await turn()
        await finish('a')
        await finish('a')
      }
      assert.ok(started.length >= 8, 'each key was processed')
    },
    { concurrency: 3 },
  ))

test('a key that is added while it is processing is processed once more, after the first processing', () =>
  withQueue(
    async ({ keys, started, finish }) => {
      keys.add('a')
      await turn()
      for (let i = 0; i < 5; i++) keys.add('a')
      await turn()
      assert.equal([started, keys.length], [['a'], 0])
      await finish('a')
      assert.equal(started, ['a', 'a'])
      await finish('a')
      assert.equal(started, ['a', 'a'])
    },
    { concurrency: 3 },
  ))

test('a thousand changes of twenty keys need few runs, and no key is processed twice at a time', async () => {
  const [log, stop] = [recordedLog(), new AbortController()]
  const keys = queue({ log, concurrency: 4 })
  const processing = new Set<Key>()
  const last = new Map<Key, number>()
  const seen = new Map<Key, number>()
  let runs = 0
  const running = keys.run(async (key) => {
    assert.not.ok(processing.has(key))
    processing.add(key)
    seen.set(key, last.get(key) ?? 0)
    runs += 1
    await turn()
    processing.delete(key)
  }, stop.signal)
  for (let i = 0; i < 1_000; i++) {
    const key = `default/${i % 20}`
    last.set(key, i)
    keys.add(key)
    if (i % 100 === 0) await turn()
  }
  while (keys.length > 0 || processing.size > 0) await turn()
  assert.equal(seen, last)
  assert.ok(runs >= 20 && runs <= 220, `${runs} runs`)
  stop.abort()
  await running
  assert.equal(log.lines, [])
})

test('the back-off of a key doubles with each failure up to the maximum, until it is reset', () =>
  withQueue(async ({ keys, clock, started }) => {
    const full = [100, 200, 400, 800, 1_000, 1_000]
    for (const [i, max] of full.entries()) {
      const ms = keys.failed('a')
      assert.ok(ms >= max / 2 && ms <= max, `failure ${i + 1}: ${ms} ms`)
      await clock.pass(ms)
      assert.is(started.length > 0, true)
    }
    keys.forget('a')
    assert.ok(keys.failed('a') <= 100)
    assert.ok(keys.failed('b') <= 100)
  }))

test('a delayed key is added after its shortest delay', () =>
  withQueue(async ({ keys, clock, started, finish }) => {
    keys.addAfter('a', 500)
    keys.addAfter('a', 200)
    keys.addAfter('a', 900)
    await clock.pass(199)
    assert.equal(started, [])
    await clock.pass(1)
    assert.equal(started, ['a'])
    await finish('a')
    await clock.pass(5_000)
    assert.equal(started, ['a'])
  }))

test('a delay of 0 adds the key at once', () =>
  withQueue(async ({ keys, started }) => {
    keys.addAfter('a', 0)
    await turn()
    assert.equal(started, ['a'])
  }))

test('an error of processing is logged, and the key is retried', () =>
  withQueue(async ({ keys, clock, started, log, finish }) => {
    keys.add('a')
    await turn()
    await finish('a', new Error('a bug'))
    const [line] = log.lines
    assert.equal([line?.level, line?.fields.key, line?.message], ['error', 'a', 'processing threw'])
    await clock.pass(100)
    assert.equal(started, ['a', 'a'])
  }))

test('after an abort the queue waits for keys that are processing, and starts no others', () =>
  withQueue(async ({ keys, clock, started, log, stop, finish }) => {
    keys.add('a')
    keys.add('b')
    keys.addAfter('c', 100)
    await turn()
    stop.abort()
    keys.add('d')
    await finish('a', new Error('cut short'))
    await clock.pass(1_000)
    assert.equal(started, ['a'])
    assert.equal(log.lines, [])
  }))

test('an abort ends the workers that wait while another one is processing', async () => {
  const stop = new AbortController()
  const keys = queue({ log: recordedLog(), concurrency: 3 })
  let hasEnded = false
  void keys.run(() => turn().then(() => stop.abort()), stop.signal).then(() => (hasEnded = true))
  await turn()
  keys.add('a')
  for (let n = 0; n < 100; n += 1) await turn()
  assert.ok(hasEnded, 'some workers wait')
})

test('delays do not count while the queue does not run', async () => {
  const clock = fakeClock()
  const keys = queue({ log: recordedLog(), clock })
  const started: Key[] = []
  const runFor = async (ms: number) => {
    const stop = new AbortController()
    const running = keys.run(async (key) => void started.push(key), stop.signal)
    await clock.pass(ms)
    stop.abort()
    await running
  }
  keys.addAfter('before', 100)
  await runFor(1_000)
  keys.addAfter('between', 100)
  await clock.pass(1_000)
  await runFor(1_000)
  assert.equal([started, keys.length], [[], 0])
})

test('a queue whose signal has aborted processes nothing', async () => {
  const log = recordedLog()
  const keys = queue({ log })
  await keys.run(
    () => Promise.reject(new Error('it ran')),
    AbortSignal.abort(),
    async () => keys.add('a'),
  )
  assert.equal([keys.length, log.lines], [0, []])
})

test('a queue takes keys from the preparation of its run on, and keeps none after it', async () => {
  const stop = new AbortController()
  const keys = queue({ log: recordedLog() })
  const started: Key[] = []
  const process = async (key: Key) => {
    started.push(key)
    stop.abort()
    keys.add('after-the-abort')
  }
  keys.add('before')
  assert.is(keys.length, 0)
  await keys.run(process, stop.signal, async () => {
    keys.add('prepared')
    await turn()
    keys.add('left')
    assert.is(keys.length, 2)
  })
  keys.add('after')
  assert.equal([started, keys.length], [['prepared'], 0])
})

test('a queue whose preparation fails keeps no key either', async () => {
  const keys = queue({ log: recordedLog() })
  const prepare = async () => {
    keys.add('a')
    throw new Error('no list')
  }
  const running = keys.run(async () => {}, new AbortController().signal, prepare)
  assert.match(String(await running.catch((error: unknown) => error)), 'no list')
  keys.add('after')
  assert.is(keys.length, 0)
})

test('a key that is held is processed when the hold ends, whatever adds it', () =>
  withQueue(async ({ keys, clock, started, finish }) => {
    keys.add('a')
    await turn()
    keys.add('a')
    keys.hold('a', 500)
    keys.add('a')
    await finish('a')
    keys.addAfter('a', 100)
    keys.add('b')
    await turn()
    await finish('b')
    await clock.pass(499)
    assert.equal(started, ['a', 'b'])
    await clock.pass(1)
    assert.equal(started, ['a', 'b', 'a'])
    await finish('a')
    keys.add('a')
    await turn()
    assert.equal(started, ['a', 'b', 'a', 'a'])
  }))

test('the time of a hold is no wait for a worker', async () => {
  const waited: number[] = []
  const observer = { added() {}, retried() {}, waited: (ms: number) => void waited.push(ms) }
  await withQueue(
    async ({ keys, clock, finish }) => {
      keys.add('a')
      await turn()
      keys.add('a')
      keys.hold('a', 500)
      await finish('a')
      await clock.pass(500)
    },
    { observer },
  )
  assert.equal(waited, [0, 0])
})

test.run()
