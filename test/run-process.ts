// Runs a test file in its own process, and in its own namespaces if it needs a network with routers.
import { spawn } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import { resolve } from 'node:path'
import { namespaced } from '../sandbox/rig/namespace.ts'
import type { FileReport } from './run-file.ts'
import { niceOf } from './run-order.ts'
import { type Run, isRigged, usesNodes } from './selection.ts'

export type Verdict = {
  run: Run
  report: FileReport
  /** A problem besides failed tests: the file could not be loaded, hung, or left something open. */
  problem: string | undefined
  /** All that it printed. */
  output: string
  seconds: number
}

export type ProcessOptions = {
  /** The folder that the file's path starts from. */
  dir: string
  testNames: string[]
  timeoutSeconds: number
  env: NodeJS.ProcessEnv
}

/**
 * V8 starts with a space of 1 MB for young objects. With 16 MB, a file that creates much garbage uses a twentieth less
 * CPU.
 */
const node = [process.execPath, '--min-semi-space-size=16']

/** How long a file may take to exit after its report. */
const endsWithinMs = 20_000

function inNamespaces(run: Run, command: string[]): string[] {
  if (usesNodes(run)) return namespaced(command, 'root')
  return isRigged(run) ? namespaced(command) : command
}

/** Runs a test file and kills it when it is not done in time. */
export function runInProcess(run: Run, { dir, testNames, timeoutSeconds, env }: ProcessOptions): Promise<Verdict> {
  const started = performance.now()
  const command = [...node, `${import.meta.dirname}/run-file.ts`, resolve(dir, run.file), ...testNames]
  const [program = '', ...args] = inNamespaces(run, command)
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...env, ...(run.dialect && { DIALECT: run.dialect }), ...(run.cloudOnly && { CLOUD_ONLY: 'true' }) },
  })
  // Its child processes inherit the value.
  if (child.pid !== undefined && niceOf(run) > 0) setPriority(child.pid, Math.min(19, getPriority() + niceOf(run)))
  let output = ''
  let problem: string | undefined
  let report: FileReport | undefined
  const kill = (reason: string) => {
    problem = reason
    child.kill('SIGKILL')
  }
  let timer = setTimeout(kill, timeoutSeconds * 1000, `not done after ${timeoutSeconds} s`)
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.on('message', (sent: FileReport) => {
    report = sent
    clearTimeout(timer)
    timer = setTimeout(kill, endsWithinMs, 'left something open')
  })
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      if (!report) problem ??= `exit ${code} before its report`
      else if (code && report.failed === 0) problem ??= `exit ${code} after its tests`
      const seconds = (performance.now() - started) / 1000
      done({ run, report: report ?? { passed: 0, failed: 0, cpuSeconds: 0 }, problem, output, seconds })
    })
  })
}

/** The failures of a file: its tests, and what else went wrong. */
export function failuresOf({ report, problem }: Verdict): number {
  return report.failed + (problem === undefined ? 0 : 1)
}
