import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { recentRead } from '../../lib/recent-read.ts'

const { signal } = new AbortController()

function makeRead() {
  const time = { ms: 0 }
  const reads: PromiseWithResolvers<number>[] = []
  const read = () => {
    const running = Promise.withResolvers<number>()
    reads.push(running)
    return running.promise
  }
  const shared = recentRead({ read, now: () => time.ms })
  return { time, reads, shared, within: (ms: number) => shared.within(ms, signal) }
}

test('callers who come during a read get its value', async () => {
  const { reads, within } = makeRead()
  const values = Promise.all([within(0), within(10), within(0)])
  reads[0]?.resolve(1)
  assert.equal([await values, reads.length], [[1, 1, 1], 1])
})

test('each caller decides how old the value may be', async () => {
  const { reads, time, within } = makeRead()
  const first = within(0)
  reads[0]?.resolve(1)
  await first
  time.ms = 100
  assert.is(await within(100), 1)
  const second = within(99)
  reads[1]?.resolve(2)
  assert.equal([await second, await within(0), reads.length], [2, 2, 2])
})

test('an error is shared for two seconds, however old a value may be', async () => {
  const { reads, time, within } = makeRead()
  const failed = within(0).catch(String)
  reads[0]?.reject(new Error('broken'))
  assert.is(await failed, 'Error: broken')
  time.ms = 2_000
  assert.is(await within(60_000).catch(String), 'Error: broken')
  time.ms = 2_001
  const again = within(60_000)
  reads[1]?.resolve(2)
  assert.equal([await again, reads.length], [2, 2])
})

test('a read that ended because its caller left is repeated at once', async () => {
  const { reads, shared, within } = makeRead()
  const leaving = new AbortController()
  const left = shared.within(0, leaving.signal).catch(String)
  leaving.abort()
  reads[0]?.reject(new Error('canceled'))
  assert.is(await left, 'Error: canceled')
  const again = within(60_000)
  reads[1]?.resolve(2)
  assert.equal([await again, reads.length], [2, 2])
})

test('the last value stays known after an error', async () => {
  const { reads, time, shared, within } = makeRead()
  assert.is(shared.latest(), undefined)
  const first = within(0)
  reads[0]?.resolve(1)
  assert.is(await first, 1)
  time.ms = 10
  const failed = within(0).catch(String)
  reads[1]?.reject(new Error('broken'))
  assert.equal([await failed, shared.latest()], ['Error: broken', 1])
})

test('a read that began before the question does not answer it, however late it ends', async () => {
  const { reads, time, shared, within } = makeRead()
  time.ms = 5
  const early = within(0)
  time.ms = 7
  const asked = [shared.since(6, signal), shared.since(7, signal)]
  assert.is(reads.length, 2)
  time.ms = 20
  reads[0]?.resolve(1)
  reads[1]?.resolve(2)
  assert.equal([await early, ...(await Promise.all(asked))], [1, 2, 2])
  assert.is(await shared.since(7, signal), 2)
  void shared.since(8, signal)
  assert.is(reads.length, 3)
})

test('a forgotten value is read again, even while a read is in progress', async () => {
  const { reads, shared, within } = makeRead()
  const first = within(0)
  shared.forget()
  const second = within(Infinity)
  reads[0]?.resolve(1)
  assert.equal([await first, shared.latest()], [1, undefined])
  reads[1]?.resolve(2)
  assert.equal([await second, shared.latest()], [2, 2])
  shared.forget()
  assert.is(shared.latest(), undefined)
})

test.run()
