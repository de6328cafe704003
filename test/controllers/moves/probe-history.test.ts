import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addOutcome, noProbes, type ProbeHistory } from '../../../controllers/moves/probe-history.ts'

type Probe = [startedAtMs: number, endedAtMs: number, isWell: boolean]

/** The history after these probes, in the order in which they end. */
function historyOf(probes: Probe[]): ProbeHistory {
  return probes.reduce(
    (history, [startedAtMs, endedAtMs, isWell]) => addOutcome(history, { startedAtMs, endedAtMs, isWell }),
    noProbes,
  )
}

const rows: [what: string, probes: Probe[], failures: number, successes: number][] = [
  ['no probe', [], 0, 0],
  [
    'good answers',
    [
      [0, 1, true],
      [1000, 1001, true],
    ],
    0,
    2,
  ],
  [
    'a failure ends the row',
    [
      [0, 1, true],
      [1000, 1001, false],
    ],
    1,
    0,
  ],
  [
    'three failures',
    [
      [0, 1, false],
      [500, 501, false],
      [1000, 1001, false],
    ],
    3,
    0,
  ],
  [
    'an answer ends the failures',
    [
      [0, 1, false],
      [500, 501, true],
    ],
    0,
    1,
  ],
  [
    'slow answers are good',
    [
      [0, 2000, true],
      [1000, 3000, true],
    ],
    0,
    2,
  ],
  [
    'a probe that waited in vain while another was answered',
    [
      [1000, 1100, true],
      [0, 3000, false],
    ],
    0,
    0,
  ],
  [
    'probes that began after the last answer',
    [
      [1000, 1100, true],
      [2000, 5000, false],
      [3000, 6000, false],
    ],
    2,
    0,
  ],
  [
    'a probe that began with the last answer',
    [
      [1000, 1100, true],
      [1100, 3000, false],
    ],
    1,
    0,
  ],
  [
    'an answer that was asked for before a failure',
    [
      [1000, 1001, false],
      [0, 2000, true],
    ],
    0,
    1,
  ],
]

for (const [what, probes, failures, successes] of rows)
  test(what, () => {
    const history = historyOf(probes)
    assert.equal([history.failures, history.successes], [failures, successes])
  })

test('the good answers before the failures are counted', () => {
  const good = (n: number): Probe[] => Array.from({ length: n }, (_, i) => [i, i, true])
  const before = (...probes: Probe[]) => historyOf(probes).formerSuccesses
  assert.is(before(...good(7), [7, 7, false]), 7)
  assert.is(before(...good(7), [7, 7, false], [8, 8, false]), 7)
  assert.is(before(...good(7), [7, 7, false], [8, 8, true], [9, 9, false]), 1)
  assert.is(before([0, 0, false]), 0)
})

test('failures with a gap between them are two silences, but a process that is always late finds a dead server too', () => {
  const failuresOf = (...late: boolean[]) =>
    late.reduce<ProbeHistory>(
      (history, isLate, n) => addOutcome(history, { startedAtMs: n, endedAtMs: n, isWell: false, isLate }),
      noProbes,
    ).failures
  assert.is(failuresOf(false, false, true), 1)
  assert.is(failuresOf(false, false, true, false, false), 3)
  assert.is(failuresOf(true, true, true, true), 2)
  assert.is(failuresOf(true, true, true, true, true), 3)
})

test('the last reason and the time of the last answer are kept', () => {
  const answered = addOutcome(noProbes, { startedAtMs: 0, endedAtMs: 7, isWell: true })
  const failed = addOutcome(answered, { startedAtMs: 10, endedAtMs: 11, isWell: false, reason: 'refused' })
  assert.equal([failed.answeredAtMs, failed.reason], [7, 'refused'])
  assert.is(addOutcome(failed, { startedAtMs: 20, endedAtMs: 21, isWell: true }).reason, undefined)
})

test.run()
