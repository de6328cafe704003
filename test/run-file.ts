// One test file, counted by ourselves: what uvu declares is compared with what ran.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

export type FileReport = { passed: number; failed: number }

type Body = (context: unknown) => unknown
type Declare = (name: string, body: Body) => void
type Hook = ((body: Body) => void) & { each: (body: Body) => void }
type Uvu = Declare & { only: Declare; skip: () => void; run: () => void; before: Hook; after: Hook }
type RunSuite = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>

const testTimeoutMs = 200_000
const group: RunSuite[] = []
let declared = 0

async function guarded(body: Body, context: unknown): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`still running after ${testTimeoutMs} ms`)), testTimeoutMs)
  try {
    await Promise.race([body(context), late.promise])
  } catch (error) {
    throw error instanceof Error ? error : new Error(`threw ${inspect(error)}, not an Error`)
  } finally {
    clearTimeout(timer)
  }
}

function forbidden(what: string): () => never {
  return () => {
    throw new Error(`${what} is not used in this project`)
  }
}

/** Counts what is declared, and forbids what lets a run pass without its tests. */
function guard(test: Uvu): object {
  const declare: Declare = (name, body) => {
    declared += 1
    test(name, (context) => guarded(body, context))
  }
  return Object.assign(declare, {
    run: test.run,
    only: forbidden('test.only'),
    skip: forbidden('test.skip'),
    before: forbidden('a before hook'),
    after: forbidden('an after hook'),
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

const file = process.argv[2]
if (file === undefined) throw new Error('usage: run-file.ts FILE')
const report: FileReport = { passed: 0, failed: 0 }
let ran = 0
await import(pathToFileURL(file).href)
for (const run of group) {
  const [errors, passed, skipped, total] = await run()
  if (errors !== true) console.error(errors)
  report.passed += passed
  report.failed += total - passed
  ran += total + skipped
}
if (declared !== ran || declared === 0) {
  report.failed += 1
  console.error(declared === 0 ? 'no test was declared' : `${declared - ran} tests never ran: is a test.run() missing?`)
}
process.exitCode = report.failed > 0 ? 1 : 0
process.send?.(report)
