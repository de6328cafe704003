// Runs every *.test.ts below this folder (or --dir) in a process of its own, several at a time: most of
// them wait for others most of the time. A word selects files by path. A phrase in quotes, or --test, selects tests by name.
// Files in a folder `matrix` run in the dialects of matrix/dialects-by-file.ts; a word may name another dialect.
// Files in a folder `rig` run in namespaces of their own, where they have root and a network with routers in it.
// In CI a file that fails runs once more at the end, alone: see run-again.ts.
// uvu alone exits 0 when a hook throws, a non-Error is thrown or a file forgets test.run(); here such a file fails.
import { globSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { commandVariable, productCommand } from '../sandbox/product-command.ts'
import { prepareRig } from '../sandbox/rig/prepare.ts'
import type { FileReport } from './run-file.ts'
import { runAgain } from './run-again.ts'
import { longestFirst, runQueue } from './run-order.ts'
import { type Verdict, failuresOf, runInProcess } from './run-process.ts'
import { type Run, isRigged, selectRuns, sortArguments, titleOf } from './selection.ts'

// In CI a test that this machine cannot run is a failure; at home the other results are still useful.
const isInCi = process.env.CI !== undefined
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: import.meta.dirname },
    'file-timeout': { type: 'string', default: '800' },
    // How many files that fail may run once more.
    again: { type: 'string', default: isInCi ? '5' : '0' },
    test: { type: 'string', multiple: true, default: [] },
    // Whether the durations of the long files are kept in seconds.json, for the order of the next runs.
    'write-seconds': { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(4, 2 * availableParallelism())) },
  },
})
const { words, phrases } = sortArguments(positionals)
const testNames = [...phrases, ...values.test]

// All these processes load much the same modules; programs in Go end before their garbage matters.
const savings = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/compiled'), GOGC: '400' }
const product = { [commandVariable]: JSON.stringify(await productCommand()) }

const runFile = (run: Run, env: NodeJS.ProcessEnv): Promise<Verdict> =>
  runInProcess(run, {
    dir: values.dir,
    testNames,
    timeoutSeconds: Number(values['file-timeout']),
    env: { ...savings, ...product, ...process.env, ...env },
  })

const runs = longestFirst(selectRuns(globSync('**/*.test.ts', { cwd: values.dir }), words))
const rigProblem = runs.some(isRigged) ? await prepareRig() : undefined
const notRun = rigProblem === undefined ? [] : runs.filter(isRigged)
const workers = Number(values.workers)
// Two timely runs would take the processors from each other.
const queue = runQueue(
  runs.filter((run) => !notRun.includes(run)),
  1,
)
const verdicts: Verdict[] = []

async function work(env: NodeJS.ProcessEnv): Promise<void> {
  for (let run = queue.next(); run; run = queue.next()) {
    const verdict = await runFile(run, env)
    queue.done(run)
    verdicts.push(verdict)
    if (testNames.length === 0 || verdict.report.passed + failuresOf(verdict) > 0) show(verdict)
  }
}

function show(verdict: Verdict): void {
  const { run, report, problem, output, seconds } = verdict
  const hasFailed = failuresOf(verdict) > 0
  const used = `${report.passed} passed, ${seconds.toFixed(1)} s, ${report.cpuSeconds.toFixed(1)} s of CPU`
  console.log(`${hasFailed ? 'FAIL' : 'ok  '} ${titleOf(run)}  ${used}  ${problem ?? ''}`.trimEnd())
  const shownOutput = hasFailed ? output : (output.match(/^NOT RUN .*/gm) ?? []).join('\n')
  if (shownOutput) console.log(shownOutput.replace(/^/gm, '     '))
}

// Whoever runs several suites at once gives each a part of its own.
const [firstPort = 0, endPort = 0] = (process.env.SANDBOX_PORTS ?? '10000-30000').split('-').map(Number)
const ports = Math.floor((endPort - firstPort) / workers)
const envs = Array.from({ length: workers }, (_, n) => {
  const first = firstPort + n * ports
  return { SANDBOX_PORTS: `${first}-${first + ports}` }
})
await Promise.all(envs.map(work))
if (values['write-seconds']) {
  const long = verdicts.filter(({ seconds }) => seconds >= 5).toSorted((one, other) => other.seconds - one.seconds)
  const rows = long.map(({ run, seconds }) => [titleOf(run), Math.round(seconds)])
  writeFileSync(`${import.meta.dirname}/seconds.json`, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
}
const final = await runAgain(verdicts, { max: Number(values.again), run: (run) => runFile(run, {}), show })
for (const run of notRun) console.log(`NOT RUN ${titleOf(run)}  ${rigProblem}`)
for (const verdict of final) if (failuresOf(verdict) > 0) console.log(`FAILED ${titleOf(verdict.run)}`)
const sum: Pick<FileReport, 'passed' | 'failed'> = {
  passed: final.reduce((all, { report }) => all + report.passed, 0),
  failed: final.reduce((all, verdict) => all + failuresOf(verdict), isInCi ? notRun.length : 0),
}
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0
