import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpDialectNames, dialectNames } from '../sandbox/dialect-names.ts'
import { dialectsByFile } from './matrix/dialects-by-file.ts'
import { isRigged, selectRuns, titleOf, withoutMetallb } from './selection.ts'
import { fastDialects, recordingFiles, slowFiles, targetOf, targets } from './targets.ts'

const dir = import.meta.dirname
const files = globSync('**/*.test.ts', { cwd: dir })
const runs = selectRuns(files, [])

test('every file belongs to a target, and so does every dialect of its row', () => {
  for (const run of runs) assert.ok(targets.includes(targetOf(run)), titleOf(run))
  const titles = runs.map(titleOf)
  assert.is(new Set(titles).size, titles.length)
  for (const file of files)
    assert.ok(
      runs.some((run) => run.file === file),
      file,
    )
})

test('every row of the tables names files that exist', () => {
  for (const slow of Object.keys(slowFiles))
    assert.ok(
      files.some((file) => file.startsWith(slow)),
      slow,
    )
  for (const file of [...Object.keys(fastDialects), ...recordingFiles]) assert.ok(files.includes(file), file)
  for (const part of withoutMetallb)
    assert.ok(
      runs.filter(isRigged).some(({ file }) => file.includes(part)),
      part,
    )
  for (const name of Object.keys(dialectsByFile)) assert.ok(existsSync(join(dir, 'matrix', `${name}.test.ts`)), name)
})

test('CONTRIBUTING has the table', () => {
  const text = readFileSync(join(dir, '..', 'CONTRIBUTING.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `([^`|]+)` +\| (.+?) +\|$/gm)].map(([, file, why]) => [file, why])
  assert.equal(rows, Object.entries(slowFiles))
})

test('a file of the matrix runs in `make test` in one dialect, and smoke in all of them', () => {
  const fast = runs.filter((run) => targetOf(run) === 'test')
  const count = (file: string) => fast.filter((run) => run.file === file).length
  const counts = ['smoke', 'smoke-bgp', 'adoption'].map((name) => count(`matrix/${name}.test.ts`))
  assert.equal(counts, [dialectNames.length, bgpDialectNames.length, 1])
  const others = runs.filter(({ file }) => file.startsWith('matrix/') && !(file in fastDialects))
  for (const { file } of others) assert.ok(count(file) <= 1, file)
})

test('a word that names a cloud selects no file that needs BGP which that cloud lacks', () => {
  const smoke = (cloud: string) => selectRuns(files, ['matrix/smoke', cloud]).map(titleOf)
  assert.equal(smoke('hetzner'), ['matrix/smoke.test.ts hetzner'])
  assert.equal(smoke('packet').toSorted(), ['matrix/smoke-bgp.test.ts packet', 'matrix/smoke.test.ts packet'])
})

test.run()
