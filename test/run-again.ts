// In CI, two shared cores run several API servers, and now and then one is late for seconds. A file that fails there runs
// once more, alone. If it passes then, its tests count as passed and the terminal says FLAKY: that is a bug in the test, or
// a race in the product, and has to be mended. If many files fail, the change is to blame and nothing runs again.
import { type Verdict, failuresOf } from './run-process.ts'
import { type Run, titleOf } from './selection.ts'

export type AgainOptions = {
  /** How many files may run once more. */
  max: number
  run: (run: Run) => Promise<Verdict>
  show: (verdict: Verdict) => void
}

/** Runs the files that failed once more, one after the other; returns the verdicts that count. */
export async function runAgain(verdicts: Verdict[], { max, run, show }: AgainOptions): Promise<Verdict[]> {
  const failed = verdicts.filter((verdict) => failuresOf(verdict) > 0)
  if (failed.length === 0 || max === 0) return verdicts
  if (failed.length > max) {
    console.log(`${failed.length} files failed, more than ${max}: none runs once more`)
    return verdicts
  }
  const second = new Map<Verdict, Verdict>()
  for (const first of failed) {
    console.log(`AGAIN ${titleOf(first.run)}  it failed, and runs once more, alone`)
    const again = await run(first.run)
    show(again)
    if (failuresOf(again) === 0) console.log(flakyText(first))
    second.set(first, again)
  }
  return verdicts.map((verdict) => second.get(verdict) ?? verdict)
}

function flakyText({ run, problem, output }: Verdict): string {
  const text = `it passed alone, and failed beside others: a bug to be mended\n${problem ?? ''}\n${output}`
  return `FLAKY ${titleOf(run)}  ${text.replaceAll(/\n(?=.)/g, '\n     ').trimEnd()}`
}
