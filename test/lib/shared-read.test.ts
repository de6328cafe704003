import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedRead } from '../../lib/shared-read.ts'
import { failureOf, neverAborted } from '../clouds/scripted-server.ts'

type Read = { resolve: (value: string) => void; fail: (error: Error) => void; signal: AbortSignal }

/** A shared read whose values the test gives, in the order in which the reads begin. */
function makeShared({ recentMs = 60_000, pauseFactor = 0 } = {}) {
  const reads: Read[] = []
  const read = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    reads.push({ resolve, fail: reject, signal })
    return promise
  }
  const abandonedError = (cause: unknown) => new Error('abandoned', { cause })
  const shared = sharedRead({ read, recentMs, pauseFactor, abandonedError })
  return { reads, shared, fresh: () => shared.fresh(neverAborted), recent: () => shared.recent(neverAborted) }
}

const settled = () => sleep(2)

test('callers who come at the same time share one read', async () => {
  const { reads, fresh } = makeShared()
  const all = Promise.all([fresh(), fresh(), fresh()])
  await settled()
  assert.is(reads.length, 1)
  reads[0]?.resolve('now')
  assert.equal(await all, ['now', 'now', 'now'])
})

test('callers who come during a read share the one after it, as it may show an older state', async () => {
  const { reads, fresh } = makeShared()
  const first = fresh()
  await settled()
  const others = Promise.all([fresh(), fresh()])
  await settled()
  assert.is(reads.length, 1)
  reads[0]?.resolve('before')
  await settled()
  assert.is(reads.length, 2)
  reads[1]?.resolve('after')
  assert.equal([await first, ...(await others)], ['before', 'after', 'after'])
})

test('a read is followed by a pause in proportion to its length, and callers meanwhile share the next one', async () => {
  const { reads, fresh } = makeShared({ pauseFactor: 5 })
  const first = fresh()
  await sleep(40)
  reads[0]?.resolve('before')
  await first
  const others = Promise.all([fresh(), sleep(20).then(fresh)])
  await sleep(100)
  assert.is(reads.length, 1)
  await sleep(200)
  assert.is(reads.length, 2)
  reads[1]?.resolve('after')
  assert.equal(await others, ['after', 'after'])
})

test('a read that fails, fails for its own callers and not for those of the next one', async () => {
  const { reads, fresh } = makeShared()
  const first = failureOf(fresh())
  await settled()
  const second = fresh()
  reads[0]?.fail(new Error('broken'))
  assert.match(String(await first), 'broken')
  await settled()
  reads[1]?.resolve('good')
  assert.is(await second, 'good')
})

test('a caller whose signal aborts gets the error with its reason, and the others the value', async () => {
  const { reads, shared, fresh } = makeShared()
  const leaver = new AbortController()
  const left = failureOf(shared.fresh(leaver.signal))
  const stayed = fresh()
  await settled()
  leaver.abort('deadline')
  const { message, cause } = (await left) as Error
  assert.equal([message, cause], ['abandoned', 'deadline'])
  assert.not.ok(reads[0]?.signal.aborted)
  reads[0]?.resolve('now')
  assert.is(await stayed, 'now')
})

test('a read is canceled when its last caller leaves, and the next one begins', async () => {
  const { reads, shared, fresh } = makeShared()
  const leaver = new AbortController()
  const left = failureOf(shared.fresh(leaver.signal))
  await settled()
  leaver.abort('deadline')
  await left
  assert.match(String(reads[0]?.signal.reason), 'abandoned')
  const next = fresh()
  await settled()
  reads[1]?.resolve('now')
  assert.is(await next, 'now')
})

test('a read whose callers all leave before it begins is never made', async () => {
  const { reads, shared, fresh } = makeShared()
  const first = fresh()
  await settled()
  const leaver = new AbortController()
  const left = failureOf(shared.fresh(leaver.signal))
  leaver.abort('deadline')
  await left
  await failureOf(shared.fresh(AbortSignal.abort('too late')))
  const last = fresh()
  reads[0]?.resolve('first')
  await settled()
  assert.is(reads.length, 2)
  reads[1]?.resolve('last')
  assert.equal([await first, await last], ['first', 'last'])
})

test('a recent value is reused by callers who accept one, and by no others', async () => {
  const { reads, fresh, recent } = makeShared()
  const first = recent()
  await settled()
  reads[0]?.resolve('now')
  await first
  assert.is(await recent(), 'now')
  void fresh()
  await settled()
  assert.is(reads.length, 2)
})

test('a value from before our own change is not recent', async () => {
  const { reads, shared, recent } = makeShared()
  const first = recent()
  await settled()
  shared.invalidate()
  reads[0]?.resolve('before')
  await first
  const second = recent()
  await settled()
  reads[1]?.resolve('after')
  assert.is(await second, 'after')
})

test('a value is not recent after its time', async () => {
  const { reads, recent } = makeShared({ recentMs: 5 })
  const first = recent()
  await settled()
  reads[0]?.resolve('before')
  await first
  await sleep(10)
  const second = recent()
  await settled()
  reads[1]?.resolve('after')
  assert.is(await second, 'after')
})

test.run()
