import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { firstSeen } from '../../../controllers/nodes/declaration.ts'
import { makeNode } from './builders.ts'

test('a node is known since it registered, and another one of its name since that one did', () => {
  const time = { ms: 1 }
  const seen = firstSeen(() => time.ms)
  const [one, other] = [makeNode({ uid: '1' }), makeNode({ uid: '2' })]
  seen.observe('worker-1', one, undefined)
  time.ms = 2
  seen.observe('worker-1', { ...one }, one)
  assert.is(seen.at('worker-1'), 1)
  seen.observe('worker-1', other, one)
  assert.is(seen.at('worker-1'), 2)
  seen.observe('worker-1', undefined, other)
  time.ms = 3
  assert.is(seen.at('worker-1'), 3, 'anyone who is not known is new')
})

test.run()
