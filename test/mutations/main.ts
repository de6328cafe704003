// npm run mutations -- --room ledger [--seed N] [--count N] [--minutes N] [--far N].
// Changes one line of a room at a time, and reports the changes that neither the types nor the unit tests notice. The
// tests of a file are those that import it. With --far, the nearest tests of the whole product are asked after them.
// It works in a copy, so that a killed run leaves no change behind.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { random } from '../chaos/random.ts'
import { farTestsOf, testsOf } from './importers.ts'
import { type Mutation, mutationsOf } from './mutate.ts'

const { values } = parseArgs({
  options: {
    room: { type: 'string', default: 'ledger' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '60' },
    far: { type: 'string', default: '0' },
  },
})
const { room } = values
const endMs = performance.now() + Number(values.minutes) * 60_000
const git = (...given: string[]) => execFileSync('git', given, { encoding: 'utf8' }).split('\n').filter(Boolean)
const sources = new Map(git('ls-files', '*.ts').map((path) => [path, readFileSync(path, 'utf8')]))
/** So many tests of a file are asked. Those that are further away notice little. */
const most = 40
const copy = mkdtempSync(join(tmpdir(), 'eip-admission-mutations-'))

/** Whether each test passes without a change; only of those that have failed with one. */
const baseline = new Map<string, boolean>()
const count = { 'refused by types': 0, noticed: 0, 'noticed far away': 0, survived: 0 }
try {
  for (const path of git('ls-files')) cpSync(path, join(copy, path))
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  const all = git('ls-files', room).filter((path) => path.endsWith('.ts'))
  const possible = all.flatMap((path) => mutationsOf(path, readFileSync(path, 'utf8')))
  const dice = random(Number(values.seed))
  if (!hasRightTypes()) throw new Error('the types of the sources are wrong without a change')
  while (possible.length > 0 && judged() < Number(values.count) && performance.now() < endMs) {
    const [mutation] = possible.splice(dice.whole(possible.length), 1)
    if (mutation) judge(mutation)
  }
  const share = Math.round((100 * (judged() - count.survived)) / Math.max(1, judged()))
  console.log(`${room}, seed ${values.seed}: ${JSON.stringify(count)}; the tests notice ${share} % of what compiles`)
  const broken = [...baseline].flatMap(([file, isSound]) => (isSound ? [] : [file]))
  if (broken.length > 0) console.log(`tests that fail without a change, and were not asked: ${broken.join(', ')}`)
} finally {
  rmSync(copy, { recursive: true, force: true })
}

function judge(mutation: Mutation): void {
  const { path, line, was, now, text } = mutation
  const original = readFileSync(join(copy, path), 'utf8')
  const change = (to: string) => writeFileSync(join(copy, path), to)
  change(text)
  try {
    if (!hasRightTypes()) return tell('refused by types', mutation)
    const notices = (file: string) => {
      if (baseline.get(file) === false || passes(file)) return false
      if (!baseline.has(file)) {
        change(original)
        // On a machine under load a test may fail once.
        baseline.set(file, passes(file) || passes(file))
        change(text)
      }
      return baseline.get(file) === true && !passes(file)
    }
    const near = testsOf(path, sources).slice(0, most).find(notices)
    if (near !== undefined) return tell('noticed', mutation, near)
    const far = farTestsOf(path, sources).slice(0, Number(values.far)).find(notices)
    if (far !== undefined) return tell('noticed far away', mutation, far)
    tell('survived', mutation)
    console.log(`SURVIVED ${path}:${line} ${was.trim()}\n  -> ${now.trim()}`)
  } finally {
    change(original)
  }
}

/** So many changes compiled and were judged. */
function judged(): number {
  return count.noticed + count['noticed far away'] + count.survived
}

function tell(result: keyof typeof count, { path, line }: Mutation, by = ''): void {
  count[result] += 1
  process.stderr.write(`${result}: ${path}:${line} ${by}\n`)
}

/** The compiler keeps what it knows of the files that did not change. */
function hasRightTypes(): boolean {
  return run('node_modules/.bin/tsc', ['-p', '.', '--incremental', '--tsBuildInfoFile', 'types.json'])
}

/** The runner's process for a file: some tests wait for timers that only it keeps alive. */
function passes(file: string): boolean {
  return run(process.execPath, ['test/run-file.ts', file])
}

/** A change may end no loop: a run that takes too long is noticed too. */
function run(command: string, given: string[]): boolean {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, 'compiled') }
  return spawnSync(command, given, { cwd: copy, timeout: 240_000, stdio: 'ignore', env }).status === 0
}
