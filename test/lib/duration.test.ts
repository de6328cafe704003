import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as fc from 'fast-check'
import { formatDuration, parseDuration } from '../../lib/duration.ts'

const durations: [text: string, ms: number | undefined][] = [
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['250ms', 250],
  ['1h', 3_600_000],
  ['1h0m0s', 3_600_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['0.1s', 100],
  ['100us', 0.1],
  ['100µs', 0.1],
  ['100μs', 0.1],
  ['1ns', 0.000_001],
  ['0', 0],
  ['0s', 0],
  ['-1m', -60_000],
  ['+1m', 60_000],
  ['', undefined],
  ['-', undefined],
  ['30', undefined],
  ['s', undefined],
  ['1d', undefined],
  ['1m 30s', undefined],
  ['1m30', undefined],
  ['1..5s', undefined],
  ['five minutes', undefined],
]
for (const [text, ms] of durations) {
  test(`${JSON.stringify(text)} is ${ms === undefined ? 'no duration' : `${ms} ms`}`, () =>
    assert.is(parseDuration(text), ms))
}

const formatted: [ms: number, text: string][] = [
  [0, '0s'],
  [250, '250ms'],
  [1000, '1s'],
  [1500, '1.5s'],
  [90_000, '1m30s'],
  [900_000, '15m'],
  [3_600_000, '1h'],
  [3_661_001, '1h1m1.001s'],
  [-60_000, '-1m'],
]
for (const [ms, text] of formatted) test(`${ms} ms is written ${text}`, () => assert.is(formatDuration(ms), text))

test('what is written is read as the same', () => {
  fc.assert(fc.property(fc.integer(), (ms) => parseDuration(formatDuration(ms)) === ms))
})

test.run()
