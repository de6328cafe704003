// Runs every *.test.ts below this folder (or --dir) in a process of its own, several at a time: most of
// them wait for others most of the time. A word selects files by path. A phrase in quotes, or --test, selects tests by name.
// Files in a folder `matrix` run in the dialects of matrix/dialects-by-file.ts; a word may name another dialect.
// Files in a folder `rig` run in namespaces of their own, where they have root and a network with routers in it.
// uvu alone exits 0 when a hook throws, a non-Error is thrown or a file forgets test.run(); here such a file fails.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { namespaced } from '../sandbox/rig/namespace.ts'
import { commandVariable, productCommand } from '../sandbox/product-command.ts'
import { prepareRig } from '../sandbox/rig/prepare.ts'
import type { FileReport } from './run-file.ts'
import { type Run, isRigged, selectRuns, sortArguments, titleOf } from './selection.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: import.meta.dirname },
    'file-timeout': { type: 'string', default: '400' },
    test: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: String(Math.min(4, 1 + availableParallelism())) },
  },
})
const { words, phrases } = sortArguments(positionals)
const testNames = [...phrases, ...values.test]

type Verdict = Run & { report: FileReport; problem: string | undefined; output: string; seconds: number }

// All these processes load much the same modules; programs in Go end before their garbage matters.
const savings = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/compiled'), GOGC: '400' }
const product = { [commandVariable]: JSON.stringify(await productCommand()) }

function runFile(run: Run, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const started = performance.now()
  const command = [process.execPath, `${import.meta.dirname}/run-file.ts`, resolve(values.dir, run.file), ...testNames]
  const [program = '', ...args] = isRigged(run) ? namespaced(command) : command
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...savings,
      ...product,
      ...process.env,
      ...env,
      ...(run.dialect && { DIALECT: run.dialect }),
      ...(run.cloudOnly && { CLOUD_ONLY: 'true' }),
    },
  })
  let output = ''
  let problem: string | undefined
  let report: FileReport | undefined
  const kill = (reason: string) => {
    problem = reason
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
      if (!report) problem ??= `exit ${code} before its report`
      else if (code && report.failed === 0) problem ??= `exit ${code} after its tests`
      const seconds = (performance.now() - started) / 1000
      done({ ...run, report: report ?? { passed: 0, failed: 0 }, problem, output, seconds })
    })
  })
}

// In reverse order the long ones come first, so that none of them runs alone at the end.
const files = globSync('**/*.test.ts', { cwd: values.dir }).toSorted().toReversed()
const runs = selectRuns(files, words)
const sum: FileReport = { passed: 0, failed: 0 }
const rigProblem = runs.some(isRigged) ? await prepareRig() : undefined
const notRun = rigProblem === undefined ? [] : runs.filter(isRigged)
const queue = runs.filter((run) => !notRun.includes(run)).values()

async function work(env: NodeJS.ProcessEnv): Promise<void> {
  for (const run of queue) {
    const { report, problem, output, seconds } = await runFile(run, env)
    const failed = report.failed + (problem === undefined ? 0 : 1)
    sum.passed += report.passed
    sum.failed += failed
    if (testNames.length > 0 && report.passed + failed === 0) continue
    console.log(
      `${failed ? 'FAIL' : 'ok  '} ${titleOf(run)}  ${report.passed} passed, ${seconds.toFixed(1)} s  ${problem ?? ''}`.trimEnd(),
    )
    const shownOutput = failed ? output : (output.match(/^NOT RUN .*/gm) ?? []).join('\n')
    if (shownOutput) console.log(shownOutput.replace(/^/gm, '     '))
  }
}

const workers = Number(values.workers)
const ports = Math.floor(20_000 / workers)
const envs = Array.from({ length: workers }, (_, n) => {
  const first = 10_000 + n * ports
  return { SANDBOX_PORTS: `${first}-${first + ports}` }
})
await Promise.all(envs.map(work))
for (const run of notRun) console.log(`NOT RUN ${titleOf(run)}  ${rigProblem}`)
// At home the other results are still useful; CI has to run everything.
if (process.env.CI !== undefined) sum.failed += notRun.length
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0
