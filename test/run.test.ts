import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../sandbox/dialects.ts'

const good = "test('good', () => {})\n"

const traps: { name: string; body: string }[] = [
  { name: 'an assertion that fails', body: "test('bad', () => { throw new Error('no') })\ntest.run()" },
  { name: 'a thrown text', body: "test('bad', () => { throw 'no' })\ntest.run()" },
  { name: 'a rejection with nothing', body: "test('bad', () => Promise.reject())\ntest.run()" },
  { name: 'a file without test.run()', body: '' },
  { name: 'a second suite that never runs', body: "suite('more')('x', () => {})\ntest.run()" },
  { name: 'a skipped test', body: "test.skip('bad', () => {})\ntest.run()" },
  { name: 'a test that wants to be the only one', body: "test.only('bad', () => {})\ntest.run()" },
  { name: 'a hook', body: 'test.before(() => {})\ntest.run()' },
  { name: 'an exit in the middle', body: "test('bad', () => process.exit(0))\ntest.run()" },
  {
    name: 'a rejection that nobody handles',
    body: "test('bad', () => void Promise.reject(new Error('no')))\ntest.run()",
  },
  { name: 'a file that cannot be loaded', body: "import './nowhere.ts'\ntest.run()" },
  { name: 'an empty file', body: 'export {}' },
  { name: 'a test that hangs', body: "test('bad', () => new Promise(() => setInterval(() => {}, 1000)))\ntest.run()" },
]

function run(
  files: Record<string, string>,
  env: NodeJS.ProcessEnv = process.env,
): { status: number | null; stdout: string; verdict: string | undefined } {
  const dir = mkdtempSync(join(tmpdir(), 'runner-'))
  try {
    for (const folder of ['rig', 'matrix']) mkdirSync(join(dir, folder))
    for (const [name, body] of Object.entries(files)) writeFileSync(join(dir, name), body)
    const args = [join(import.meta.dirname, 'run.ts'), '--dir', dir, '--file-timeout', '2']
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
    const { status, verdict } = run({ 'trap.test.ts': content })
    assert.is(status, 1)
    assert.match(verdict ?? '', /^\d+ passed, [1-9]\d* failed$/)
  })
}

test('a file of the matrix runs once in each dialect, and says so', () => {
  const body = "test(process.env.DIALECT ?? '', () => { if (!process.env.DIALECT) throw new Error('none') })\n"
  const { stdout, verdict } = run({
    'matrix/a.test.ts': `${head}${body}test.run()`,
    'b.test.ts': `${head}${good}test.run()`,
  })
  assert.is(verdict, '4 passed, 0 failed')
  for (const name of Object.keys(dialects)) assert.match(stdout, `matrix/a.test.ts ${name}`)
})

test('good files pass', () => {
  const { status, verdict } = run({ 'a.test.ts': `${head}${good}test.run()`, 'b.test.ts': `${head}${good}test.run()` })
  assert.is(status, 0)
  assert.is(verdict, '2 passed, 0 failed')
})

test('no file at all is no pass', () => assert.is(run({}).status, 1))

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

test('where there are no namespaces it is said what was not run, and CI fails for it', () => {
  const { CI: _ours, ...env } = process.env
  const person = run(rigged, { ...env, PATH: '/nowhere' })
  assert.match(
    person.stdout,
    /^NOT RUN rig\/a\.test\.ts {2}user namespaces, unshare \(util-linux\) and ip \(iproute2\) are required/m,
  )
  assert.is(person.verdict, '1 passed, 0 failed')
  const ci = run(rigged, { ...env, PATH: '/nowhere', CI: 'true' })
  assert.is(ci.verdict, '1 passed, 1 failed')
  assert.is(ci.status, 1)
})

test.run()
