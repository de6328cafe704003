import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasMarks } from '../../../clouds/ports/assignments.ts'

test('marks match when all that are wanted are there', () => {
  const marks = { usage: 'u', cluster: 'c', extra: 'e' }
  assert.ok(hasMarks(marks, { usage: 'u', cluster: 'c' }))
  assert.ok(hasMarks(marks, {}))
  assert.not.ok(hasMarks(marks, { usage: 'u', cluster: 'other' }))
  assert.not.ok(hasMarks(marks, { usage: 'u', service: 's' }))
  assert.not.ok(hasMarks({}, { toString: '' }))
})

test.run()
