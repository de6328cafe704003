// Runs one test file, all of its tests or those whose names contain the given phrases, and reports what ran. uvu counts
// only what it ran, so we compare that with what the file declared.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { doAfterFailure } from './after-failure.ts'

export type FileReport = {
  passed: number
  failed: number
  /** The processor time of the file and of the programs that it started. */
  cpuSeconds: number
}

type Body = (context: unknown) => unknown
type Declare = (name: string, body: Body) => void
type Uvu = Declare & { run: () => void }
type RunSuite = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>

const [file, ...phrases] = process.argv.slice(2)
const testTimeoutMs = 600_000
const group: RunSuite[] = []
/** The declared tests, including closings, and the tests that the phrases leave out. */
const declared = { tests: 0, closings: 0, leftOut: 0 }

async function guarded(body: Body, context: unknown): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`still running after ${testTimeoutMs} ms`)), testTimeoutMs)
  try {
    await Promise.race([body(context), late.promise])
  } catch (error) {
    await doAfterFailure()
    throw error instanceof Error ? error : new Error(`threw ${inspect(error)}, not an Error`)
  } finally {
    clearTimeout(timer)
  }
}

/** The CPU time of this process and of its ended children, which only Linux tells, in hundredths of a second. */
function usedCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1_000_000
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return own + (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return own
  }
}

function forbidden(what: string): () => never {
  return () => {
    throw new Error(`${what} is not used in this project`)
  }
}

/**
 * Counts the declared tests, and forbids calls that let a run pass without its tests. `after` closes what the file
 * opened. It counts as a test, because uvu passes a run whose hook throws. It also runs when only some tests are
 * selected.
 */
function guard(test: Uvu): object {
  const closings: Body[] = []
  const declare: Declare = (name, body) => {
    if (!phrases.every((phrase) => name.includes(phrase))) {
      declared.leftOut += 1
      return
    }
    declared.tests += 1
    test(name, (context) => guarded(body, context))
  }
  return Object.assign(declare, {
    run() {
      for (const closing of closings) {
        declared.closings += 1
        test('after the tests, what the file opened closes and its last checks hold', (context) =>
          guarded(closing, context))
      }
      test.run()
    },
    after: (body: Body) => void closings.push(body),
    only: forbidden('test.only'),
    skip: forbidden('test.skip'),
    before: forbidden('a before hook'),
  })
}

Object.assign(globalThis, { UVU_DEFER: 1, UVU_QUEUE: [group] })
const uvu = (await import('uvu')) as unknown as { test: Uvu; suite: (name: string) => Uvu }
Object.assign(globalThis, { guardedUvu: { test: guard(uvu.test), suite: (name: string) => guard(uvu.suite(name)) } })
registerHooks({
  resolve: (name, context, next) =>
    name === 'uvu'
      ? { url: 'data:text/javascript,export const { test, suite } = guardedUvu', shortCircuit: true }
      : next(name, context),
})

if (file === undefined) throw new Error('usage: run-file.ts FILE [PHRASE...]')
const report: FileReport = { passed: 0, failed: 0, cpuSeconds: 0 }
let ran = 0
await import(pathToFileURL(file).href)
for (const run of group) {
  const [errors, passed, skipped, total] = await run()
  if (errors !== true) console.error(errors)
  report.passed += passed
  report.failed += total - passed
  ran += total + skipped
}
const missing = declared.tests + declared.closings - ran
if (missing !== 0 || declared.tests + declared.leftOut === 0) {
  report.failed += 1
  console.error(missing === 0 ? 'no test was declared' : `${missing} tests never ran: is a test.run() missing?`)
}
// A closing without tests shows nothing.
if (declared.tests === 0) report.passed = 0
process.exitCode = report.failed > 0 ? 1 : 0
report.cpuSeconds = usedCpuSeconds()
process.send?.(report)
// The runner kills a file that does not exit, and its reader needs to know what was still open.
setTimeout(() => console.error('still open:', process.getActiveResourcesInfo().join(', ')), 10_000).unref()
