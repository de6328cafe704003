import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sights } from '../../lib/sights.ts'

test('a state lasts from its first sight, and so does the next one', () => {
  let nowMs = 0
  const seen = sights(() => nowMs)
  assert.is(seen.forMs('a', 'first'), 0)
  nowMs = 999
  assert.is(seen.forMs('a', 'first'), 999)
  assert.is(seen.forMs('a', 'second'), 0)
  assert.is(seen.forMs('b', 'second'), 0)
  nowMs = 1_500
  assert.equal([seen.forMs('a', 'second'), seen.forMs('a', undefined)], [501, 0])
  assert.is(seen.forMs('a', 'second'), 0, 'a state that returns is new')
  assert.is(seen.forMs('b', 'second'), 501)
  seen.forget()
  assert.is(seen.forMs('b', 'second'), 0)
})

test.run()
