import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bgpDialectNames } from '../sandbox/dialect-names.ts'

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
  { name: 'a timer that still runs', body: "test('bad', () => void setInterval(() => {}, 1000))\ntest.run()" },
  { name: 'a test that hangs', body: "test('bad', () => new Promise(() => setInterval(() => {}, 1000)))\ntest.run()" },
]

function run(
  files: Record<string, string>,
  {
    env = process.env,
    select = [],
    seconds = 60,
  }: { env?: NodeJS.ProcessEnv; select?: string[]; seconds?: number } = {},
): { status: number | null; stdout: string; stderr: string; verdict: string | undefined } {
  const dir = mkdtempSync(join(tmpdir(), 'runner-'))
  try {
    for (const folder of ['rig', 'matrix']) mkdirSync(join(dir, folder))
    for (const [name, body] of Object.entries(files)) writeFileSync(join(dir, name), body)
    const args = [join(import.meta.dirname, 'run.ts'), '--dir', dir, '--file-timeout', String(seconds), ...select]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    return { status, stdout, stderr, verdict: stdout.trim().split('\n').at(-1) }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const head = "import { suite, test } from 'uvu'\nvoid suite\n"

const trapFile = (n: number) => `trap-${n}.test.ts`
const trapped = run(
  Object.fromEntries(
    traps.map(({ name, body }, n) => [trapFile(n), name === 'an empty file' ? body : head + good + body]),
  ),
  // The runner must kill a file that hangs.
  { seconds: 20 },
)

for (const [n, { name }] of traps.entries()) {
  test(`${name} fails its file, and so the run`, () => {
    assert.match(trapped.stdout, new RegExp(`^FAIL +\\d+/${traps.length} ${trapFile(n)} `, 'm'))
    assert.match(trapped.stdout, new RegExp(`^FAILED ${trapFile(n)}$`, 'm'))
    assert.is(trapped.status, 1)
  })
}

test('the output of a file that does not end says what is open', () => {
  assert.match(trapped.stdout, /still open: .*Timeout/)
})

const dialectFile = `${head}test(process.env.DIALECT ?? '', () => { if (!process.env.DIALECT) throw new Error('none') })
test.run()`

test('a file of the matrix that is not in the table runs in its first dialect, and slowly in the others with BGP', () => {
  const files = { 'matrix/a.test.ts': dialectFile, 'b.test.ts': `${head}${good}test.run()` }
  const [first, ...others] = bgpDialectNames
  const fast = run(files)
  assert.match(fast.stdout, `matrix/a.test.ts ${first}`)
  assert.is(fast.verdict, '2 passed, 0 failed')
  const slow = run(files, { select: ['--slow'] })
  for (const name of others) assert.match(slow.stdout, `matrix/a.test.ts ${name}`)
  assert.is(slow.verdict, `${others.length} passed, 0 failed`)
})

test('words select in both targets: every dialect of the row in the table, or another one that a word names', () => {
  const files = { 'matrix/create.test.ts': dialectFile, 'matrix/races.test.ts': dialectFile }
  assert.is(run(files, { select: ['matrix'] }).verdict, '3 passed, 0 failed')
  const named = run(files, { select: ['matrix/create', 'packet'] })
  assert.match(named.stdout, 'matrix/create.test.ts packet')
  assert.is(named.verdict, '1 passed, 0 failed')
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

test('a file that fails does not run again, and the end says how to run it alone', () => {
  const { status, verdict, stdout } = run({
    'trap.test.ts': `${head}${good}test('bad', () => { throw new Error('the reason') })\ntest.run()`,
    'b.test.ts': `${head}${good}test.run()`,
  })
  assert.equal([status, verdict, stdout.match(/the reason/g)?.length], [1, '2 passed, 1 failed', 1], stdout)
  assert.match(
    stdout,
    /^FAILED trap\.test\.ts\n\nagain:\n {2}npm test -- trap\.test\.ts\n\n2 files in \d+ s\n2 passed/m,
  )
})

test('what a file measured is shown although it passes, and nothing else that it prints', () => {
  const prints = "test('c', () => console.log('noise\\nMEASURED 3 s'))\n"
  const { stdout } = run({ 'a.test.ts': `${head}${good}${prints}test.run()` })
  assert.match(stdout, /^ {5}MEASURED 3 s$/m)
  assert.not.match(stdout, 'noise')
})

test('good files pass', () => {
  const { status, verdict } = run({ 'a.test.ts': `${head}${good}test.run()`, 'b.test.ts': `${head}${good}test.run()` })
  assert.is(status, 0)
  assert.is(verdict, '2 passed, 0 failed')
})

test('an option that does not exist is named, with what a person may type', () => {
  const { status, stderr } = run({ 'a.test.ts': named }, { select: ['--fast'] })
  assert.is(status, 2)
  assert.match(stderr, /^Unknown option '--fast'[^\n]*\n\nnpm test -- \[WORD\.\.\.\]/)
})

test('a run without any file fails and says which words it looked for', () => {
  const { status, stdout } = run({ 'a.test.ts': `${head}${good}test.run()` }, { select: ['other'] })
  assert.is(status, 1)
  assert.match(stdout, 'no test file has other in its path')
})

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
  const { status, verdict, stdout } = run(rigged, { select: ['test.ts'] })
  assert.is(status, 0, stdout)
  assert.is(verdict, '2 passed, 0 failed')
})

test('without user namespaces the terminal lists what did not run, and CI fails', () => {
  const { CI: _ours, ...env } = process.env
  const select = ['test.ts']
  const person = run(rigged, { select, env: { ...env, PATH: '/nowhere' } })
  assert.match(
    person.stdout,
    /^NOT RUN rig\/a\.test\.ts {2}user namespaces, unshare \(util-linux\) and ip \(iproute2\) are required/m,
  )
  assert.is(person.verdict, '1 passed, 0 failed')
  const ci = run(rigged, { select, env: { ...env, PATH: '/nowhere', CI: 'true' } })
  assert.is(ci.verdict, '1 passed, 1 failed')
  assert.is(ci.status, 1)
})

test.run()
