// A schema cannot compare a number that is given as text: a pattern has to know the range.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wholeNumbers } from '../../settings/formats.ts'

const ranges = [
  [0, 0],
  [0, 9],
  [1, 100],
  [7, 7],
  [0, 10],
  [19, 21],
  [95, 1_234],
  [100, 199],
  [808, 3_080],
] as const

for (const [from, to] of ranges)
  test(`the pattern of ${from} to ${to} has these numbers and no others`, () => {
    const pattern = new RegExp(`^${wholeNumbers(from, to)}$`)
    for (let n = 0; n <= 10 * to + 10; n++) assert.is(pattern.test(String(n)), n >= from && n <= to, String(n))
  })

test('large ranges end where they should', () => {
  for (const to of [65_535, 1_000_000, 4_294_967_295]) {
    const pattern = new RegExp(`^${wholeNumbers(1, to)}$`)
    for (const n of [1, 9, 10, to - 1, to]) assert.ok(pattern.test(String(n)), `${n} of ${to}`)
    for (const n of [0, to + 1, to + 10, 10 * to]) assert.not(pattern.test(String(n)), `${n} of ${to}`)
  }
})

test('only digits are a number, and leading zeroes change nothing', () => {
  const pattern = new RegExp(`^${wholeNumbers(1, 100)}$`)
  for (const text of ['007', '0100']) assert.ok(pattern.test(text), text)
  for (const text of ['', '-5', '+5', '5.0', '1e1', ' 5', '5 ', 'lots', '00']) assert.not(pattern.test(text), text)
})

test.run()
