import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inTurn } from '../../lib/in-turn.ts'

test('the work of one key runs in order, even after a failure, and other keys do not wait', async () => {
  const turns = inTurn()
  const done: string[] = []
  const first = Promise.withResolvers<void>()
  const works = [
    turns.run('a', () => first.promise),
    turns.run('a', async () => void done.push('a2')),
    turns.run('b', async () => void done.push('b1')),
  ]
  await turn()
  assert.equal([done, turns.count('a'), turns.count('b')], [['b1'], 2, 0])
  first.reject(new Error('broken'))
  const results = await Promise.allSettled(works)
  assert.equal(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
  assert.equal(done, ['b1', 'a2'])
  await turn()
  assert.is(turns.count('a'), 0)
})

test.run()
