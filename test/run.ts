// Runs every *.test.ts below this folder (or --dir) in a process of its own. Several run at a time, because most of
// them mostly wait for other programs. targets.ts says which belong to which target of make. Files in a folder `matrix`
// run in the dialects of matrix/dialects-by-file.ts. Files in a folder `rig` run in namespaces of their own, where they
// have root and a network with routers in it. uvu alone exits 0 when a hook throws, a non-Error is thrown or a file
// forgets test.run(); here such a file fails.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { countVariable } from '../sandbox/control-plane/count.ts'
import { commandVariable, productCommand } from '../sandbox/product-command.ts'
import type { Lender } from './control-planes/lender.ts'
import { placeText, startText, summaryText, verdictText } from './report.ts'
import { readArguments } from './run-arguments.ts'
import { knownSeconds, longestFirst, runQueue } from './run-order.ts'
import { type Verdict, failuresOf, runInProcess } from './run-process.ts'
import {
  type Run,
  isRigged,
  needsRoot,
  selectRuns,
  titleOf,
  usesApiServer,
  usesMetallb,
  usesNodes,
} from './selection.ts'
import { targetOf } from './targets.ts'

const given = readArguments()
const { dir, words, testNames } = given
const selected = selectRuns(globSync('**/*.test.ts', { cwd: dir }), words)
const { target } = given
const runs = longestFirst(words.length > 0 ? selected : selected.filter((run) => targetOf(run) === target))
const rigProblem = runs.some(isRigged) ? await prepareRigs() : undefined
const nodeProblem = runs.some(usesNodes) ? await prepareNodes() : undefined
const rootProblem = process.getuid?.() === 0 ? undefined : 'only root can make a Debian'
const notRun = runs.filter(
  (run) =>
    (rigProblem !== undefined && isRigged(run)) ||
    (nodeProblem !== undefined && usesNodes(run)) ||
    (rootProblem !== undefined && needsRoot(run)),
)
// Two timely runs would compete for the processors.
const queue = runQueue(
  runs.filter((run) => !notRun.includes(run)),
  1,
)
// Two clusters of three nodes would do the same, so these runs have one worker.
const workers = runs.some(usesNodes) ? 1 : given.workers
// Files with an API server mostly wait, and one more worker uses that time.
const takes = Array.from({ length: Math.min(workers, runs.length) }, () => queue.next)
const hasGaps = takes.length > 1 && takes.length < runs.length && runs.some(usesApiServer)
if (hasGaps && !runs.every(usesApiServer)) takes.push(queue.nextFiller)
/** The load of each processor from which runs wait: four files with an API server cause about half of it. */
const crowdedLoad = 8
const verdicts: Verdict[] = []
const interruption = new AbortController()

// All these processes load much the same modules. With Go's default of 100, garbage collection is a quarter of an API
// server's work.
const savings = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/compiled'), GOGC: '400' }
// Files of another folder belong to the runner's own tests.
const needsApiServer = dir === import.meta.dirname && runs.some(usesApiServer)
// A file that unexpectedly starts the product makes the bundle itself.
const product = needsApiServer ? { [commandVariable]: JSON.stringify(await productCommand()) } : {}
const countDir = needsApiServer ? mkdtempSync(join(tmpdir(), 'eip-admission-count-')) : undefined
const count = countDir === undefined ? undefined : join(countDir, 'control-planes')
// This process also starts control planes, which it lends.
process.env.GOGC ??= savings.GOGC
if (count !== undefined) process.env[countVariable] = count

const startedMs = performance.now()
if (runs.length > 1) console.log(startText(runs.length, takes.length))
process.once('SIGINT', () => interruption.abort())
await Promise.all(takes.map((take, worker) => work(worker, take)))
if (given.writesSeconds) writeSeconds()
const seconds = (performance.now() - startedMs) / 1000
const wasInterrupted = interruption.signal.aborted
console.log(
  summaryText({
    runs,
    verdicts,
    notRun,
    rigProblem: rigProblem ?? nodeProblem ?? rootProblem,
    seconds,
    count,
    wasInterrupted,
  }),
)
if (countDir !== undefined) rmSync(countDir, { recursive: true, force: true })

// In CI, a test that this machine cannot run is a failure; elsewhere the other results are still useful.
const failedUnrun = process.env.CI === undefined ? 0 : notRun.length
const passed = verdicts.reduce((all, { report }) => all + report.passed, 0)
const failed = verdicts.reduce((all, verdict) => all + failuresOf(verdict), failedUnrun)
if (runs.length === 0) console.log(`no test file has ${words.join(' and ')} in its path`)
else if (passed + failed === 0 && !wasInterrupted) console.log(`no test has ${testNames.join(' or ')} in its name`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 || wasInterrupted ? 1 : 0

async function lenderOf(worker: number): Promise<Lender> {
  return (await import('./control-planes/lender.ts')).openLender(worker)
}

/**
 * Builds the programs that the rig's tests run; tests in another folder need only its namespaces. Returns why none can
 * run.
 */
async function prepareRigs(): Promise<string | undefined> {
  // Loaded only for tests that need it, so that a unit test starts at once.
  const { prepareRig, prepareWholeRig } = await import('../sandbox/rig/prepare.ts')
  return dir === import.meta.dirname ? prepareWholeRig(runs.some(usesMetallb) ? undefined : []) : prepareRig([])
}

/** Builds what nodes run, and the image of these sources once for all files. Returns why no node can run. */
async function prepareNodes(): Promise<string | undefined> {
  const { findNodeProblem } = await import('../sandbox/cluster/cgroups.ts')
  const problem = findNodeProblem()
  if (problem !== undefined) return problem
  const { clusterPrograms, imageVariable } = await import('../sandbox/cluster/programs.ts')
  const { images } = await clusterPrograms('cherry-servers')
  const [product = ''] = images
  process.env[imageVariable] = product
  return undefined
}

async function work(worker: number, take: () => Run | undefined): Promise<void> {
  const lender = needsApiServer ? await lenderOf(worker) : undefined
  for (let run = take(); run && !interruption.signal.aborted; run = take()) {
    if (usesApiServer(run)) await roomFor(worker)
    const lent = usesApiServer(run) && !isRigged(run) ? await lender?.lend() : {}
    const verdict = await runInProcess(run, {
      dir,
      testNames,
      timeoutSeconds: given.fileTimeoutSeconds,
      env: { ...savings, ...product, ...process.env, ...portsOf(worker), ...lent },
    })
    queue.done(run)
    // Ctrl-C also ends the files, which says nothing about them.
    if (interruption.signal.aborted) break
    verdicts.push(verdict)
    // Damage to the control plane must not fail the next file.
    if (failuresOf(verdict) > 0) await lender?.close()
    show(verdict)
  }
  await lender?.close()
}

/**
 * Waits while the processors are crowded: a further run would only make tests miss their deadlines. The first worker
 * goes on, so that the load can fall.
 */
async function roomFor(worker: number): Promise<void> {
  if (worker === 0) return
  const isCrowded = () => (loadavg()[0] ?? 0) > crowdedLoad * availableParallelism()
  while (isCrowded() && !interruption.signal.aborted) await sleep(1_000)
}

function show(verdict: Verdict): void {
  const isLeftOut = testNames.length > 0 && verdict.report.passed + failuresOf(verdict) === 0
  if (isLeftOut) return
  const isCounted = runs.length > 1 && testNames.length === 0
  console.log(verdictText(verdict, isCounted ? placeText(verdicts.length, runs.length - notRun.length) : ''))
}

/** The ports of a worker. A person who runs several suites at once gives each its own range. */
function portsOf(worker: number): { SANDBOX_PORTS: string } {
  const [first = 0, end = 0] = (process.env.SANDBOX_PORTS ?? '10000-30000').split('-').map(Number)
  const size = Math.floor((end - first) / takes.length)
  return { SANDBOX_PORTS: `${first + worker * size}-${first + (worker + 1) * size}` }
}

/** Keeps the measurements of the other target. */
function writeSeconds(): void {
  const measured = verdicts.map(({ run, seconds: took }) => [titleOf(run), Math.round(took)] as const)
  const rows = Object.entries({ ...knownSeconds, ...Object.fromEntries(measured) })
  const long = rows.filter(([, took]) => took >= 5).toSorted(([, one], [, other]) => other - one)
  writeFileSync(`${import.meta.dirname}/seconds.json`, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`)
}
