// The output of a run: a line for each file, the output of failed files, and at the end how to run these again.
import { readCount } from '../sandbox/control-plane/count.ts'
import { type Verdict, failuresOf } from './run-process.ts'
import { type Run, titleOf } from './selection.ts'

/** The outcome of the whole run. */
export type Summary = {
  runs: Run[]
  verdicts: Verdict[]
  /** The runs that this machine cannot make, and why. */
  notRun: Run[]
  rigProblem: string | undefined
  seconds: number
  /** The file that counts the control planes; undefined if no file uses one. */
  count: string | undefined
  wasInterrupted: boolean
}

/** The text about the start of a run. The longest files start first, so the first result may take minutes. */
export function startText(files: number, workers: number): string {
  return `${files} files, ${workers} at a time, the longest first; what one prints is shown if it fails`
}

/**
 * The line of a file, with its output if it failed, and otherwise with its measurements. `place` says how many files
 * are done.
 */
export function verdictText(verdict: Verdict, place: string): string {
  const { run, report, problem, output, seconds } = verdict
  const hasFailed = failuresOf(verdict) > 0
  const used = `${report.passed} passed, ${seconds.toFixed(1)} s, ${report.cpuSeconds.toFixed(1)} s of CPU`
  const line = `${hasFailed ? 'FAIL' : 'ok  '} ${place}${titleOf(run)}  ${used}  ${problem ?? ''}`.trimEnd()
  const shownOutput = hasFailed ? output : (output.match(/^(?:NOT RUN|MEASURED) .*/gm) ?? []).join('\n')
  return shownOutput === '' ? line : `${line}\n${shownOutput.trimEnd().replace(/^/gm, '     ')}`
}

/** How many files are done, in columns as wide as the number of all. */
export function placeText(done: number, all: number): string {
  return `${String(done).padStart(String(all).length)}/${all} `
}

/** The files that did not run, those that failed and how to run them again, and what the run used. */
export function summaryText(summary: Summary): string {
  const { runs, verdicts, notRun, rigProblem, wasInterrupted } = summary
  const failed = verdicts.filter((verdict) => failuresOf(verdict) > 0)
  return [
    ...notRun.map((run) => `NOT RUN ${titleOf(run)}  ${rigProblem}`),
    ...failed.map(({ run }) => `FAILED ${titleOf(run)}`),
    ...(failed.length > 0 ? ['', 'again:', ...failed.map(({ run }) => `  ${commandOf(run)}`)] : []),
    ...(wasInterrupted ? ['', `interrupted: ${runs.length - notRun.length - verdicts.length} files did not run`] : []),
    ...(runs.length > 1 ? ['', usedText(summary)] : ['']),
  ].join('\n')
}

function commandOf({ file, dialect }: Run): string {
  return `npm test -- ${[file, dialect ?? []].flat().join(' ')}`
}

function usedText({ verdicts, seconds, count }: Summary): string {
  const inAll = `${verdicts.length} files in ${timeText(seconds)}`
  if (count === undefined) return inAll
  const { started, lent } = readCount(count)
  return `${inAll}; control planes: ${started} started, lent ${lent} times`
}

function timeText(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
