import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { firstSeen } from '../../../clouds/cherry-servers/reservations.ts'

test('things are as old as they are known to be, and what no longer exists is forgotten', () => {
  let hour = 0
  const seen = firstSeen(() => new Date(Date.UTC(2026, 0, 1, hour)))
  assert.is(seen.of('a'), '2026-01-01T00:00:00.000Z')
  hour = 1
  assert.is(seen.of('a'), '2026-01-01T00:00:00.000Z')
  assert.is(seen.of('b'), '2026-01-01T01:00:00.000Z')
  hour = 2
  seen.keepOnly(['b'])
  assert.is(seen.of('b'), '2026-01-01T01:00:00.000Z')
  assert.is(seen.of('a'), '2026-01-01T02:00:00.000Z')
})

test.run()
