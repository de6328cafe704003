import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../clouds/cloud.ts'
import { sharedRead } from '../../clouds/shared-read.ts'
import { cloudErrorOf, failureOf, neverAborted } from './scripted-server.ts'

type Question = { answer: (what: string) => void; fail: (error: Error) => void; signal: AbortSignal }

/** A read whose answers the test gives, in the order in which it is made. */
function asked(recentMs = 60_000) {
  const questions: Question[] = []
  const read = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    questions.push({ answer: resolve, fail: reject, signal })
    return promise
  }
  const shared = sharedRead({ read, what: 'the list', recentMs })
  return { questions, shared, fresh: () => shared.fresh(neverAborted), recent: () => shared.recent(neverAborted) }
}

const settled = () => sleep(2)

test('those who ask at the same time get one answer', async () => {
  const { questions, fresh } = asked()
  const all = Promise.all([fresh(), fresh(), fresh()])
  await settled()
  assert.is(questions.length, 1)
  questions[0]?.answer('now')
  assert.equal(await all, ['now', 'now', 'now'])
})

test('nobody gets an answer from before the question, and those who come meanwhile share the next', async () => {
  const { questions, fresh } = asked()
  const first = fresh()
  await settled()
  const others = Promise.all([fresh(), fresh()])
  await settled()
  assert.is(questions.length, 1)
  questions[0]?.answer('before')
  await settled()
  assert.is(questions.length, 2)
  questions[1]?.answer('after')
  assert.equal([await first, ...(await others)], ['before', 'after', 'after'])
})

test('a read that failed fails for those who waited for it, and not for those after them', async () => {
  const { questions, fresh } = asked()
  const first = failureOf(fresh())
  await settled()
  const second = fresh()
  questions[0]?.fail(new Error('broken'))
  assert.match(String(await first), 'broken')
  await settled()
  questions[1]?.answer('well')
  assert.is(await second, 'well')
})

test('a caller who leaves gets a CloudError, and the others their answer', async () => {
  const { questions, shared, fresh } = asked()
  const leaver = new AbortController()
  const left = cloudErrorOf(shared.fresh(leaver.signal))
  const stayed = fresh()
  await settled()
  leaver.abort('deadline')
  const { fault, outcome, cause, message } = await left
  assert.equal(
    [fault, outcome, cause, message],
    ['unavailable', 'nothing', 'deadline', 'reading the list was given up'],
  )
  assert.not.ok(questions[0]?.signal.aborted)
  questions[0]?.answer('now')
  assert.is(await stayed, 'now')
})

test('a read that nobody waits for any more ends, and the next one begins', async () => {
  const { questions, shared, fresh } = asked()
  const leaver = new AbortController()
  const left = cloudErrorOf(shared.fresh(leaver.signal))
  await settled()
  leaver.abort('deadline')
  await left
  assert.ok(questions[0]?.signal.reason instanceof CloudError)
  const next = fresh()
  await settled()
  questions[1]?.answer('now')
  assert.is(await next, 'now')
})

test('a read that nobody waits for any more before it begins is never made', async () => {
  const { questions, shared, fresh } = asked()
  const first = fresh()
  await settled()
  const leaver = new AbortController()
  const left = cloudErrorOf(shared.fresh(leaver.signal))
  leaver.abort('deadline')
  await left
  await cloudErrorOf(shared.fresh(AbortSignal.abort('too late')))
  const last = fresh()
  questions[0]?.answer('first')
  await settled()
  assert.is(questions.length, 2)
  questions[1]?.answer('last')
  assert.equal([await first, await last], ['first', 'last'])
})

test('what was read a moment ago is good enough for those who say so', async () => {
  const { questions, fresh, recent } = asked()
  const first = recent()
  await settled()
  questions[0]?.answer('now')
  await first
  assert.is(await recent(), 'now')
  void fresh()
  await settled()
  assert.is(questions.length, 2)
})

test('what was read before a change of ours is not', async () => {
  const { questions, shared, recent } = asked()
  const first = recent()
  await settled()
  shared.changed()
  questions[0]?.answer('before')
  await first
  const second = recent()
  await settled()
  questions[1]?.answer('after')
  assert.is(await second, 'after')
})

test('nor is what was read longer ago than a moment', async () => {
  const { questions, recent } = asked(5)
  const first = recent()
  await settled()
  questions[0]?.answer('before')
  await first
  await sleep(10)
  const second = recent()
  await settled()
  questions[1]?.answer('after')
  assert.is(await second, 'after')
})

test.run()
