import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { filesOf, root } from './docs/pages.ts'
import { drawnTables } from './drawn-rows.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('each table that a comment of the product draws has a case for each row', () => {
  const product = filesOf('**/*.ts').filter((file) => !/^(test|bench|sandbox)\//.test(file))
  const drawn = product.flatMap((file) => drawnTables(read(file)).map(() => file))
  const tests = filesOf('test/**/*.test.ts').map(read).join('\n')
  const checked = [...tests.matchAll(/testRows\(\s*(?:\{ file: )?'([^']+)'/g)].map(([, file = '']) => file)
  assert.equal(checked.toSorted(), drawn.toSorted())
})

test('a table is rows of cells, with its continued lines, in both kinds of comments', () => {
  const lines = ['//   a | b | c', '//   --+---+--', '//   d | e | f', '//     | g |', '//   h |   | -', '', '// i | j']
  const block = ['/**', ' * | a | b |', ' * | - | - |', ' * | c | `d` |', ' */']
  assert.equal(drawnTables([...lines, ...block].join('\n')), [
    [
      ['d', 'e g', 'f'],
      ['h', '', '-'],
    ],
    [['c', '`d`']],
  ])
})

test.run()
