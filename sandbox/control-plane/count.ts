// Counts the control planes of a test run. Each process that starts or lends one adds a line to a file that the runner
// names.
import { appendFileSync, readFileSync } from 'node:fs'

/** The variable in which the test runner names the file of its count. */
export const countVariable = 'CONTROL_PLANE_COUNT'

/** Adds one to the count of the run, where there is one. */
export function count(what: 'started' | 'lent'): void {
  const { [countVariable]: file = '' } = process.env
  if (file !== '') appendFileSync(file, `${what}\n`)
}

/** Reads a count; nothing was started if the file does not exist. */
export function readCount(file: string): { started: number; lent: number } {
  const lines = linesOf(file)
  const howMany = (what: string) => lines.filter((line) => line === what).length
  return { started: howMany('started'), lent: howMany('lent') }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
