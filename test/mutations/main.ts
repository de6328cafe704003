// npm run mutations -- --room ledger [--seed N] [--count N] [--minutes N].
// Changes one line of a room at a time, and reports the changes that neither the types nor the unit tests notice. The
// tests of a file are those that import it.
// It works in a copy, so that a killed run leaves no change behind.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { random } from '../chaos/random.ts'
import { importersOf } from './importers.ts'
import { type Mutation, mutationsOf } from './mutate.ts'

const { values } = parseArgs({
  options: {
    room: { type: 'string', default: 'ledger' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '60' },
  },
})
const { room } = values
const endMs = performance.now() + Number(values.minutes) * 60_000
const git = (...given: string[]) => execFileSync('git', given, { encoding: 'utf8' }).split('\n').filter(Boolean)
const sources = new Map(git('ls-files', '*.ts').map((path) => [path, readFileSync(path, 'utf8')]))
/** So many tests of a file are asked. Those that are further away notice little. */
const most = 40
/** Tests of the whole product take minutes, and need a control plane. */
const isUnitTest = (path: string) =>
  /^test\/.*\.test\.ts$/.test(path) && !/\/(whole|matrix|rig|cluster|image|site)\//.test(path)
const testsOf = (path: string) => importersOf(path, sources).filter(isUnitTest).slice(0, most)
const copy = mkdtempSync(join(tmpdir(), 'eip-admission-mutations-'))

const broken = new Set<string>()

type Result = 'refused by types' | 'noticed' | 'survived'
const count: Record<Result, number> = { 'refused by types': 0, noticed: 0, survived: 0 }
try {
  for (const path of git('ls-files')) cpSync(path, join(copy, path))
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  const all = git('ls-files', room).filter((path) => path.endsWith('.ts'))
  const possible = all.flatMap((path) => mutationsOf(path, readFileSync(path, 'utf8')))
  const dice = random(Number(values.seed))
  for (let n = 0; n < Number(values.count) && performance.now() < endMs; n += 1) {
    const mutation = dice.pick(possible)
    const result = judge(mutation)
    count[result] += 1
    process.stderr.write(`${result}: ${mutation.path}:${mutation.line}\n`)
    if (result === 'survived')
      console.log(`SURVIVED ${mutation.path}:${mutation.line} ${mutation.was.trim()}\n  -> ${mutation.now.trim()}`)
  }
  const { noticed, survived } = count
  const share = Math.round((100 * noticed) / Math.max(1, noticed + survived))
  console.log(`${room}, seed ${values.seed}: ${JSON.stringify(count)}; the tests notice ${share} %`)
  if (broken.size > 0) console.log(`tests that fail without a change, and were not asked: ${[...broken].join(', ')}`)
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** The cheap questions come first: the nearest tests notice most, and only a survivor is compiled. */
function judge({ path, text }: Pick<Mutation, 'path' | 'text'>): Result {
  const original = readFileSync(join(copy, path), 'utf8')
  writeFileSync(join(copy, path), text)
  try {
    const failing = testsOf(path)
      .filter((file) => !broken.has(file))
      .find((file) => !passes(process.execPath, [file]))
    if (failing !== undefined) {
      writeFileSync(join(copy, path), original)
      if (passes(process.execPath, [failing])) return 'noticed'
      // It fails in the copy without a change too, so it says nothing.
      broken.add(failing)
      return judge({ path, text })
    }
    return passes('npx', ['tsc', '--noEmit', '-p', '.']) ? 'survived' : 'refused by types'
  } finally {
    writeFileSync(join(copy, path), original)
  }
}

/** A change may end no loop: a run that takes too long is noticed too. */
function passes(command: string, given: string[]): boolean {
  return spawnSync(command, given, { cwd: copy, timeout: 120_000, stdio: 'ignore' }).status === 0
}
