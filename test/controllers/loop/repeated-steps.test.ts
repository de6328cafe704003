import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repeatedSteps } from '../../../controllers/loop/repeated-steps.ts'

/** Steps of one key, a time apart; returns the first reconcile that is too often, and the object. */
function reconciles({ count, apartMs, steps = ['show'] }: { count: number; apartMs: number; steps?: string[] }) {
  let nowMs = 0
  const repeats = repeatedSteps({ now: () => nowMs })
  const repeated = Array.from({ length: count }, () => {
    nowMs += apartMs
    return repeats.after('a', steps)
  })
  return {
    repeats,
    first: repeated.findIndex((step) => step !== undefined),
    pass: (ms: number) => void (nowMs += ms),
  }
}

for (const { what, count, apartMs, steps, first } of [
  { what: 'the same step at once', count: 20, apartMs: 0, steps: ['show'], first: 12 },
  { what: 'the same step each four seconds', count: 20, apartMs: 4_000, steps: ['show'], first: 12 },
  {
    what: 'the same step each five seconds, twelve times a minute',
    count: 200,
    apartMs: 5_000,
    steps: ['show'],
    first: -1,
  },
  { what: 'the same step each six seconds', count: 200, apartMs: 6_000, steps: ['show'], first: -1 },
  { what: 'a repeated step among others', count: 20, apartMs: 10, steps: ['bind', 'show'], first: 12 },
  { what: 'no step', count: 200, apartMs: 0, steps: [], first: -1 },
])
  test(`${what} is too often from reconcile ${first} on`, () =>
    assert.is(reconciles({ count, apartMs, steps }).first, first))

test('a contested key is remembered through long holds, and forgotten in the end', () => {
  const { repeats, pass } = reconciles({ count: 13, apartMs: 10 })
  pass(100_000)
  assert.equal([repeats.isContested('a'), repeats.isContested('b')], [true, false])
  assert.is(repeats.after('a', ['bind']), undefined, 'another step is none of the dispute')
  assert.is(repeats.after('a', ['show']), 'show')
  pass(149_000)
  assert.is(repeats.isContested('a'), true)
  pass(2_000)
  assert.is(repeats.isContested('a'), false)
  assert.is(repeats.after('a', ['show']), undefined)
})

test.run()
