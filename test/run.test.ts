import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../sandbox/dialects.ts'
import { dialectsByFile } from './matrix/dialects-by-file.ts'

const good = "test('good', () => {})\n"

const traps: { name: string; body: string }[] = [
  { name: 'an assertion that fails', body: "test('bad', () => { throw new Error('no') })\ntest.run()" },
  { name: 'a thrown text', body: "test('bad', () => { throw 'no' })\ntest.run()" },
  { name: 'a rejection with nothing', body: "test('bad', () => Promise.reject())\ntest.run()" },
  { name: 'a file without test.run()', body: '' },
  { name: 'a second suite that never runs', body: "suite('more')('x', () => {})\ntest.run()" },
  { name: 'a skipped test', body: "test.skip('bad', () => {})\ntest.run()" },
  { name: 'a test that excludes the others with only', body: "test.only('bad', () => {})\ntest.run()" },
  { name: 'a before hook', body: 'test.before(() => {})\ntest.run()' },
  { name: 'an after hook that throws', body: "test.after(() => { throw 'no' })\ntest.run()" },
  { name: 'an exit in the middle', body: "test('bad', () => process.exit(0))\ntest.run()" },
  {
    name: 'an unhandled rejection',
    body: "test('bad', () => void Promise.reject(new Error('no')))\ntest.run()",
  },
  { name: 'a file that cannot be loaded', body: "import './nowhere.ts'\ntest.run()" },
  { name: 'an empty file', body: 'export {}' },
  { name: 'a test that hangs', body: "test('bad', () => new Promise(() => setInterval(() => {}, 1000)))\ntest.run()" },
]

function run(
  files: Record<string, string>,
  {
    env = process.env,
    select = [],
    seconds = 60,
  }: { env?: NodeJS.ProcessEnv; select?: string[]; seconds?: number } = {},
): { status: number | null; stdout: string; verdict: string | undefined } {
  const dir = mkdtempSync(join(tmpdir(), 'runner-'))
  try {
    for (const folder of ['rig', 'matrix']) mkdirSync(join(dir, folder))
    for (const [name, body] of Object.entries(files)) writeFileSync(join(dir, name), body)
    const args = [join(import.meta.dirname, 'run.ts'), '--dir', dir, '--file-timeout', String(seconds), ...select]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    return { status, stdout, verdict: stdout.trim().split('\n').at(-1) }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const head = "import { suite, test } from 'uvu'\nvoid suite\n"

for (const { name, body } of traps) {
  test(`${name} fails the run`, () => {
    const content = name === 'an empty file' ? body : head + good + body
    // The only one that has to be killed.
    const seconds = name === 'a test that hangs' ? 3 : 60
    const { status, verdict } = run({ 'trap.test.ts': content }, { seconds })
    assert.is(status, 1)
    assert.match(verdict ?? '', /^\d+ passed, [1-9]\d* failed$/)
  })
}

const dialectFile = `${head}test(process.env.DIALECT ?? '', () => { if (!process.env.DIALECT) throw new Error('none') })
test.run()`

test('a file of the matrix that is not in the table runs once in each dialect, and the terminal names the dialect', () => {
  const { stdout, verdict } = run({
    'matrix/a.test.ts': dialectFile,
    'b.test.ts': `${head}${good}test.run()`,
  })
  assert.is(verdict, '4 passed, 0 failed')
  for (const name of Object.keys(dialects)) assert.match(stdout, `matrix/a.test.ts ${name}`)
})

test('a file of the matrix that is in the table runs in those dialects, and in another one that a word names', () => {
  const files = { 'matrix/create.test.ts': dialectFile, 'matrix/races.test.ts': dialectFile }
  assert.is(run(files).verdict, '3 passed, 0 failed')
  const named = run(files, { select: ['matrix/create', 'packet'] })
  assert.match(named.stdout, 'matrix/create.test.ts packet')
  assert.is(named.verdict, '1 passed, 0 failed')
})

test('every row of the table of dialects is a file of the matrix', () => {
  for (const name of Object.keys(dialectsByFile))
    assert.ok(existsSync(join(import.meta.dirname, 'matrix', `${name}.test.ts`)), name)
})

const named = `${head}
test('a node keeps its address', () => {})
test('a node loses its address', () => { throw new Error('not selected') })
test.after(() => console.log('\\nNOT RUN closed'))
test.run()`

for (const { how, select } of [
  { how: 'a phrase in quotes', select: ['a.test', 'keeps its address'] },
  { how: '--test', select: ['a.test', '--test=keeps'] },
]) {
  test(`${how} selects tests by name, and what the file opened is closed`, () => {
    const { verdict, stdout } = run({ 'a.test.ts': named, 'b.test.ts': `${head}${good}test.run()` }, { select })
    assert.is(verdict, '2 passed, 0 failed', stdout)
    assert.match(stdout, 'closed')
  })
}

test('a phrase that is in the name of no test fails the run', () => {
  const { status, verdict } = run({ 'a.test.ts': named }, { select: ['gains an address'] })
  assert.equal([status, verdict], [1, '0 passed, 0 failed'])
})

// Fails the first time that it runs: then a file lies beside it.
const flaky = (name: string) => `${head}import { existsSync, writeFileSync } from 'node:fs'
const seen = import.meta.dirname + '/${name}.seen'
const isFirst = !existsSync(seen)
writeFileSync(seen, '')
test('late', () => { if (isFirst) throw new Error('the reason of ${name}') })
test('steady', () => {})
test.run()`
const flakyFiles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`flaky-${n}.test.ts`, flaky(`flaky-${n}`)]))
const { CI: _given, ...atHome } = process.env
const inCi = { ...atHome, CI: 'true' }

test('in CI a file that fails and then passes alone is called flaky, with the reason, and its tests passed', () => {
  const { status, verdict, stdout } = run({ ...flakyFiles(1), 'b.test.ts': `${head}${good}test.run()` }, { env: inCi })
  assert.equal([status, verdict], [0, '3 passed, 0 failed'], stdout)
  assert.match(stdout, /^FAIL flaky-0\.test\.ts/m)
  assert.match(stdout, /^FLAKY flaky-0\.test\.ts [^]*the reason of flaky-0/m)
})

test('in CI a file that ends before its report runs once more, too', () => {
  const dies = flaky('dies').replace("throw new Error('the reason of dies')", 'process.exit(3)')
  const { status, verdict, stdout } = run({ 'dies.test.ts': dies }, { env: inCi })
  assert.equal([status, verdict], [0, '2 passed, 0 failed'], stdout)
  assert.match(stdout, /^FLAKY dies\.test\.ts [^]*exit 3 before its report/m)
})

test('in CI a file that fails twice fails the run, and its name is at the end', () => {
  const { status, verdict, stdout } = run(
    { ...flakyFiles(1), 'trap.test.ts': `${head}test('bad', () => { throw new Error('no') })\ntest.run()` },
    { env: inCi },
  )
  assert.equal([status, verdict], [1, '2 passed, 1 failed'], stdout)
  assert.match(stdout, /^FAILED trap\.test\.ts\n\n2 passed/m)
})

test('in CI five files may be flaky; when more fail, none runs once more', () => {
  assert.equal([run(flakyFiles(5), { env: inCi }).verdict], ['10 passed, 0 failed'])
  const { status, verdict, stdout } = run(flakyFiles(6), { env: inCi })
  assert.equal([status, verdict], [1, '6 passed, 6 failed'])
  assert.match(stdout, '6 files failed, more than 5: none runs once more')
})

test('at home a file that fails does not run again', () => {
  const { status, verdict } = run(flakyFiles(1), { env: atHome })
  assert.equal([status, verdict], [1, '1 passed, 1 failed'])
})

test('good files pass', () => {
  const { status, verdict } = run({ 'a.test.ts': `${head}${good}test.run()`, 'b.test.ts': `${head}${good}test.run()` })
  assert.is(status, 0)
  assert.is(verdict, '2 passed, 0 failed')
})

test('a run without any file fails', () => assert.is(run({}).status, 1))

const rigged = {
  'rig/a.test.ts': `${head}import * as os from 'node:os'
test('alone', () => {
  const names = Object.keys(os.networkInterfaces())
  if (names.join() !== 'lo') throw new Error(names.join())
})
test.run()`,
  'b.test.ts': `${head}${good}test.run()`,
}

test('a file in a folder rig has a network of its own', () => {
  const { status, verdict, stdout } = run(rigged)
  assert.is(status, 0, stdout)
  assert.is(verdict, '2 passed, 0 failed')
})

test('without user namespaces the terminal lists what did not run, and CI fails', () => {
  const { CI: _ours, ...env } = process.env
  const person = run(rigged, { env: { ...env, PATH: '/nowhere' } })
  assert.match(
    person.stdout,
    /^NOT RUN rig\/a\.test\.ts {2}user namespaces, unshare \(util-linux\) and ip \(iproute2\) are required/m,
  )
  assert.is(person.verdict, '1 passed, 0 failed')
  const ci = run(rigged, { env: { ...env, PATH: '/nowhere', CI: 'true' } })
  assert.is(ci.verdict, '1 passed, 1 failed')
  assert.is(ci.status, 1)
})

test.run()
