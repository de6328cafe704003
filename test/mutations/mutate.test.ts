import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { farTestsOf, testsOf } from './importers.ts'
import { mutationsOf } from './mutate.ts'

const rows: [line: string, mutations: string[]][] = [
  ['  if (a && b) {', ['  if (a || b) {', '  if (!(a && b)) {']],
  ['  if (a < 1) return b', ['  if (a <= 1) return b', '  if (!a < 1) return b', '  ']],
  ['  await clock.sleep(5_000, signal)', ['  ']],
  ['  return a ?? b', ['  return a']],
  ['  const one = other', []],
  ['// a && b', []],
]
for (const [line, mutations] of rows)
  test(`"${line.trim()}" has ${mutations.length} mutations`, () => {
    assert.equal(
      mutationsOf('a.ts', `first\n${line}\nlast`).map(({ now }) => now),
      mutations,
    )
  })

test('a mutation is the whole file with one line changed', () => {
  const [mutation] = mutationsOf('a.ts', 'first\n  a < b\nlast')
  assert.equal(mutation, { path: 'a.ts', line: 2, was: '  a < b', now: '  a <= b', text: 'first\n  a <= b\nlast' })
})

test('the tests of a file are those that import it: of its own folder, then the nearest', () => {
  const sources = new Map([
    ['test/far/far.test.ts', "import { b } from '../../room/b.ts'"],
    ['test/far/near.test.ts', "import { a } from '../../room/a.ts'"],
    ['test/whole/whole.test.ts', "import { a } from '../../room/a.ts'"],
    ['test/room/own.test.ts', "import { b } from '../../room/b.ts'"],
    ['room/a.ts', "import { c } from './c.ts'"],
    ['room/b.ts', "const { a } = await import('./a.ts')"],
    ['room/c.ts', ''],
  ])
  assert.equal(testsOf('room/a.ts', sources), [
    'test/room/own.test.ts',
    'test/far/near.test.ts',
    'test/far/far.test.ts',
  ])
})

test('of the tests of the whole product, those come first whose path shares the most words with the file', () => {
  const paths = ['whole/nodes', 'matrix/announcing', 'whole/assigned-nodes', 'rig/whole/assigned', 'assigning/mover']
  const sources = new Map(paths.map((path) => [`test/${path}.test.ts`, '']))
  assert.equal(farTestsOf('controllers/assigning/service-nodes.ts', sources), [
    'test/whole/assigned-nodes.test.ts',
    'test/whole/nodes.test.ts',
    'test/matrix/announcing.test.ts',
  ])
})

test.run()
