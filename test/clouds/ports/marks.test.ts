import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasMarks, marksAmong } from '../../../clouds/ports/marks.ts'

test('marks match when all that are wanted are there', () => {
  const marks = { usage: 'u', cluster: 'c', extra: 'e' }
  assert.ok(hasMarks(marks, { usage: 'u', cluster: 'c' }))
  assert.ok(hasMarks(marks, {}))
  assert.not.ok(hasMarks(marks, { usage: 'u', cluster: 'other' }))
  assert.not.ok(hasMarks(marks, { usage: 'u', service: 's' }))
  assert.not.ok(hasMarks({}, { toString: '' }))
})

test('a name with two values is no mark, and one that is there twice is one', () => {
  const tags = [
    ['cluster', 'a'],
    ['service', 's'],
    ['cluster', 'b'],
    ['service', 's'],
    ['', 'x'],
    ['team', ''],
  ] as const
  assert.equal(marksAmong(tags), { service: 's', team: '' })
})

test.run()
