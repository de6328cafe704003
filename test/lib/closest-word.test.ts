import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { closestWord } from '../../lib/text.ts'

const known = ['metro', 'metros', 'projectID']

const cases: [given: string, maxEdits: number, is: string | undefined][] = [
  ['metr', 1, 'metro'],
  ['METRO', 0, 'metro'],
  ['projectid', 0, 'projectID'],
  ['metross', 2, 'metros'],
  ['region', 3, undefined],
]
for (const [given, maxEdits, is] of cases)
  test(`"${given}" is at most ${maxEdits} edits from ${is ?? 'no known word'}`, () =>
    assert.is(
      closestWord(given, known, () => maxEdits),
      is,
    ))

test('a word is closest, however long the others are', () => {
  const words = ['x'.repeat(100_000), 'metro', 'METROPOLIS']
  assert.is(
    closestWord('metrO', words, () => 1),
    'metro',
  )
  assert.is(
    closestWord('m'.repeat(100_000), ['metro'], () => 99_994),
    undefined,
  )
})

test('how many edits are possible may depend on the word', () => {
  assert.is(
    closestWord('ab', ['cd', 'abcdef'], (word) => word.length - 2),
    'abcdef',
  )
  assert.is(
    closestWord('ab', [], () => 9),
    undefined,
  )
})

test.run()
