// Runs every *.test.ts below this folder (or --dir) in a process of its own, several at a time: most of
// them wait for others most of the time. Words select files by name.
// Files in a folder `matrix` run once in each dialect, whose name is such a word too.
// Files in a folder `rig` run in namespaces of their own, where they have root and a network with routers in it.
// uvu alone exits 0 when a hook throws, a non-Error is thrown or a file forgets test.run(); here such a file fails.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { dialects } from '../sandbox/dialects.ts'
import { namespaced } from '../sandbox/rig/namespace.ts'
import { prepareRig } from '../sandbox/rig/prepare.ts'
import type { FileReport } from './run-file.ts'

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: import.meta.dirname },
    'file-timeout': { type: 'string', default: '400' },
    workers: { type: 'string', default: String(Math.min(4, 2 * availableParallelism())) },
  },
})

type Run = { file: string; dialect?: string }
type Verdict = Run & { report: FileReport; wrong: string | undefined; output: string; seconds: number }

function isIn(folder: string, file: string): boolean {
  return file.split('/').includes(folder)
}

function isRigged({ file }: Run): boolean {
  return isIn('rig', file)
}

function titleOf({ file, dialect }: Run): string {
  return dialect === undefined ? file : `${file} ${dialect}`
}

// A process a file, and many that a file starts, load much the same modules; Go's programs end before their garbage counts.
const thrift = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/compiled'), GOGC: '400' }

function runFile(run: Run, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const started = performance.now()
  const command = [process.execPath, `${import.meta.dirname}/run-file.ts`, resolve(values.dir, run.file)]
  const [program = '', ...args] = isRigged(run) ? namespaced(command) : command
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...thrift, ...process.env, ...env, ...(run.dialect && { DIALECT: run.dialect }) },
  })
  let output = ''
  let wrong: string | undefined
  let report: FileReport | undefined
  const kill = (reason: string) => {
    wrong = reason
    child.kill('SIGKILL')
  }
  let timer = setTimeout(kill, Number(values['file-timeout']) * 1000, `not done after ${values['file-timeout']} s`)
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.on('message', (sent: FileReport) => {
    report = sent
    clearTimeout(timer)
    timer = setTimeout(kill, 10_000, 'left something open')
  })
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      if (!report) wrong ??= `exit ${code} before its report`
      else if (code && report.failed === 0) wrong ??= `exit ${code} after its tests`
      const seconds = (performance.now() - started) / 1000
      done({ ...run, report: report ?? { passed: 0, failed: 0 }, wrong, output, seconds })
    })
  })
}

// Backwards the long ones come first, and nobody waits for one of them at the end.
const runs = globSync('**/*.test.ts', { cwd: values.dir })
  .toSorted()
  .toReversed()
  .flatMap((file): Run[] =>
    isIn('matrix', file) ? Object.keys(dialects).map((dialect) => ({ file, dialect })) : [{ file }],
  )
  .filter((run) => words.every((word) => titleOf(run).includes(word)))
const sum: FileReport = { passed: 0, failed: 0 }
const noRig = runs.some(isRigged) ? await prepareRig() : undefined
const left = noRig === undefined ? [] : runs.filter(isRigged)
const queue = runs.filter((run) => !left.includes(run)).values()

async function work(env: NodeJS.ProcessEnv): Promise<void> {
  for (const run of queue) {
    const { report, wrong, output, seconds } = await runFile(run, env)
    const failed = report.failed + (wrong === undefined ? 0 : 1)
    sum.passed += report.passed
    sum.failed += failed
    console.log(
      `${failed ? 'FAIL' : 'ok  '} ${titleOf(run)}  ${report.passed} passed, ${seconds.toFixed(1)} s  ${wrong ?? ''}`.trimEnd(),
    )
    const worthTelling = failed ? output : (output.match(/^NOT RUN .*/gm) ?? []).join('\n')
    if (worthTelling) console.log(worthTelling.replace(/^/gm, '     '))
  }
}

const workers = Number(values.workers)
const ports = Math.floor(20_000 / workers)
const envs = Array.from({ length: workers }, (_, n) => {
  const first = 10_000 + n * ports
  return { SANDBOX_PORTS: `${first}-${first + ports}` }
})
await Promise.all(envs.map(work))
for (const run of left) console.log(`NOT RUN ${titleOf(run)}  ${noRig}`)
// On a person's machine the rest is worth knowing; what judges a change has to see all of it.
if (process.env.CI !== undefined) sum.failed += left.length
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0
