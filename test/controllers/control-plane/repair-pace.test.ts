import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repairPace } from '../../../controllers/control-plane/mirror-service.ts'

/** Repairs at once whenever the pace permits it, for so long; returns when. */
function repairs(ms: number): number[] {
  let now = 0
  const pace = repairPace(6, () => now)
  const times: number[] = []
  for (; now < ms; now += 100)
    if (pace.pauseMs() === 0) {
      pace.made()
      times.push(now)
    }
  return times
}

test('a few repairs are made at once, then one in ten seconds', () => {
  assert.equal(repairs(40_000), [0, 100, 200, 300, 400, 500, 10_500, 20_500, 30_500])
})

test('who is left in peace for a while may repair at once again', () => {
  let now = 0
  const pace = repairPace(6, () => now)
  for (let n = 0; n < 6; n++) pace.made()
  assert.is(pace.pauseMs(), 10_000)
  now = 60_000
  for (let n = 0; n < 6; n++) {
    assert.is(pace.pauseMs(), 0)
    pace.made()
  }
  assert.is(pace.pauseMs(), 10_000)
})

test('the pause ends when it says', () => {
  let now = 0
  const pace = repairPace(6, () => now)
  for (let n = 0; n < 6; n++) pace.made()
  now = 3_000
  assert.is(pace.pauseMs(), 7_000)
  now = 10_000
  assert.is(pace.pauseMs(), 0)
})

test('another content permits the few repairs that it needs, and not a whole burst again', () => {
  const pace = repairPace(6, () => 0)
  const repairsOf = (content: string) => {
    pace.wants(content)
    let repairs = 0
    for (; pace.pauseMs() === 0; repairs++) pace.made()
    return repairs
  }
  assert.equal(['one server', 'two servers', 'two servers', 'one server'].map(repairsOf), [6, 3, 0, 3])
})

test.run()
