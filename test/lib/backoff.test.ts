import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { backoffMs, withJitter } from '../../lib/repeat.ts'

const isBetween = (ms: number, fullMs: number) => ms >= fullMs / 2 && ms <= fullMs

test('the wait doubles with each failure, up to the maximum, less at most a half', () => {
  for (const [failures, fullMs] of [
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [5_000, 1_000],
  ] as const)
    assert.ok(isBetween(backoffMs(failures, { firstMs: 100, maxMs: 1_000 }), fullMs))
})

test('jitter takes off at most a half', () => {
  assert.ok(Array.from({ length: 100 }, () => withJitter(100)).every((ms) => isBetween(ms, 100)))
})

test.run()
