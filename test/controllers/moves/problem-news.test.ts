import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { problemNews } from '../../../controllers/moves/problem-news.ts'

const rows: [before: string | undefined, problem: string | undefined, isNew: boolean][] = [
  [undefined, undefined, false],
  [undefined, '3 probes of node a failed', true],
  ['3 probes of node a failed', '4 probes of node a failed', false],
  ['the next move waits (initially 31 s)', 'the next move waits (initially 30 s)', false],
  ['no answer within 4.75 s', 'no answer within 3.612 s', false],
  ['node worker-1 is not Ready', 'node worker-2 is not Ready', true],
  ['it was assigned to machine 10.0.0.1', 'it was assigned to machine 10.0.0.2', true],
  ['node a is not Ready', undefined, false],
]
for (const [before, problem, isNew] of rows)
  test(`after ${before ?? 'nothing'}, ${problem ?? 'nothing'} is ${isNew ? '' : 'no '}news`, () => {
    const news = problemNews()
    news.isNew(before)
    assert.equal([news.isNew(problem), news.current()], [isNew, problem])
  })

test('a problem that recurs is news again', () => {
  const news = problemNews()
  assert.equal(['lost', undefined, 'lost'].map(news.isNew), [true, false, true])
})

test.run()
