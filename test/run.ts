// Runs every *.test.ts below this folder (or --dir) in a process of its own. Several run at a time, because most of
// them wait for others most of the time. targets.ts says which belong to `make test`, and which to `make test-slow`
// (--slow). A word selects files by path, in either target. A phrase in quotes, or --test, selects tests by name. Files
// in a folder `matrix` run in the dialects of matrix/dialects-by-file.ts; a word may name another dialect. Files in a
// folder `rig` run in namespaces of their own, where they have root and a network with routers in it. uvu alone exits 0
// when a hook throws, a non-Error is thrown or a file forgets test.run(); here such a file fails.
import { globSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { commandVariable, productCommand } from '../sandbox/product-command.ts'
import type { Lender } from './control-planes/lender.ts'
import type { FileReport } from './run-file.ts'
import { knownSeconds, longestFirst, runQueue } from './run-order.ts'
import { type Verdict, failuresOf, runInProcess } from './run-process.ts'
import { isRigged, selectRuns, sortArguments, titleOf, usesApiServer } from './selection.ts'
import { targetOf } from './targets.ts'

// In CI a test that this machine cannot run is a failure; at home the other results are still useful.
const isInCi = process.env.CI !== undefined
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: import.meta.dirname },
    'file-timeout': { type: 'string', default: '800' },
    slow: { type: 'boolean', default: false },
    test: { type: 'string', multiple: true, default: [] },
    // Whether the durations of the long files are kept in seconds.json, for the order of the next runs.
    'write-seconds': { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(4, 2 * availableParallelism())) },
  },
})
const { words, phrases } = sortArguments(positionals)
const testNames = [...phrases, ...values.test]

const selected = selectRuns(globSync('**/*.test.ts', { cwd: values.dir }), words)
const target = values.slow ? 'test-slow' : 'test'
const runs = longestFirst(words.length > 0 ? selected : selected.filter((run) => targetOf(run) === target))
// One unit test is to start at once: what only others need is loaded for them.
const rigProblem = runs.some(isRigged) ? await (await import('../sandbox/rig/prepare.ts')).prepareWholeRig() : undefined
const notRun = rigProblem === undefined ? [] : runs.filter(isRigged)
const workers = Math.min(Number(values.workers), runs.length)
// Two timely runs would take the processors from each other.
const queue = runQueue(
  runs.filter((run) => !notRun.includes(run)),
  1,
)
const verdicts: Verdict[] = []

// All these processes load much the same modules; programs in Go end before their garbage matters.
const savings = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/compiled'), GOGC: '400' }
// A file that is not expected to start the product makes the bundle by itself if it does.
const product = runs.some(usesApiServer) ? { [commandVariable]: JSON.stringify(await productCommand()) } : {}

async function lenderOf(worker: number): Promise<Lender> {
  return (await import('./control-planes/lender.ts')).openLender(worker)
}

async function work(worker: number): Promise<void> {
  const lender = runs.some(usesApiServer) ? await lenderOf(worker) : undefined
  for (let run = queue.next(); run; run = queue.next()) {
    const lent = usesApiServer(run) && !isRigged(run) ? await lender?.lend() : {}
    const verdict = await runInProcess(run, {
      dir: values.dir,
      testNames,
      timeoutSeconds: Number(values['file-timeout']),
      env: { ...savings, ...product, ...process.env, ...portsOf(worker), ...lent },
    })
    queue.done(run)
    verdicts.push(verdict)
    // Whatever it did to its control plane shall not fail the next file.
    if (failuresOf(verdict) > 0) await lender?.close()
    if (testNames.length === 0 || verdict.report.passed + failuresOf(verdict) > 0) show(verdict)
  }
  await lender?.close()
}

function show(verdict: Verdict): void {
  const { run, report, problem, output, seconds } = verdict
  const hasFailed = failuresOf(verdict) > 0
  const used = `${report.passed} passed, ${seconds.toFixed(1)} s, ${report.cpuSeconds.toFixed(1)} s of CPU`
  console.log(`${hasFailed ? 'FAIL' : 'ok  '} ${titleOf(run)}  ${used}  ${problem ?? ''}`.trimEnd())
  const shownOutput = hasFailed ? output : (output.match(/^NOT RUN .*/gm) ?? []).join('\n')
  if (shownOutput) console.log(shownOutput.replace(/^/gm, '     '))
}

/** The ports of a worker. Whoever runs several suites at once gives each suite a part of its own. */
function portsOf(worker: number): { SANDBOX_PORTS: string } {
  const [first = 0, end = 0] = (process.env.SANDBOX_PORTS ?? '10000-30000').split('-').map(Number)
  const count = Math.floor((end - first) / workers)
  return { SANDBOX_PORTS: `${first + worker * count}-${first + (worker + 1) * count}` }
}

await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
if (values['write-seconds']) writeSeconds()
for (const run of notRun) console.log(`NOT RUN ${titleOf(run)}  ${rigProblem}`)
for (const verdict of verdicts) if (failuresOf(verdict) > 0) console.log(`FAILED ${titleOf(verdict.run)}`)
const sum: Pick<FileReport, 'passed' | 'failed'> = {
  passed: verdicts.reduce((all, { report }) => all + report.passed, 0),
  failed: verdicts.reduce((all, verdict) => all + failuresOf(verdict), isInCi ? notRun.length : 0),
}
if (runs.length === 0) console.log(`no test file has ${words.join(' and ')} in its path`)
else if (sum.passed + sum.failed === 0) console.log(`no test has ${testNames.join(' or ')} in its name`)
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0

/** Keeps what the other target measured. */
function writeSeconds(): void {
  const measured = verdicts.map(({ run, seconds }) => [titleOf(run), Math.round(seconds)] as const)
  const rows = Object.entries({ ...knownSeconds, ...Object.fromEntries(measured) })
  const long = rows.filter(([, seconds]) => seconds >= 5).toSorted(([, one], [, other]) => other - one)
  writeFileSync(`${import.meta.dirname}/seconds.json`, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`)
}
