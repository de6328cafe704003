// Runs every *.test.ts below this folder (or --dir) in a process of its own, two at a time. Words select files by name.
// Files in a folder `rig` run in namespaces of their own, where they have root and a network with routers in it.
// uvu alone exits 0 when a hook throws, a non-Error is thrown or a file forgets test.run(); here such a file fails.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { namespaced } from '../sandbox/rig/namespace.ts'
import { prepareRig } from '../sandbox/rig/prepare.ts'
import type { FileReport } from './run-file.ts'

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: import.meta.dirname },
    'file-timeout': { type: 'string', default: '400' },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
  },
})

type Verdict = { file: string; report: FileReport; wrong: string | undefined; output: string; seconds: number }

function isRigged(file: string): boolean {
  return file.split('/').includes('rig')
}

function runFile(file: string): Promise<Verdict> {
  const started = performance.now()
  const command = [process.execPath, `${import.meta.dirname}/run-file.ts`, resolve(values.dir, file)]
  const [program = '', ...args] = isRigged(file) ? namespaced(command) : command
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let output = ''
  let wrong: string | undefined
  let report: FileReport | undefined
  const kill = (reason: string) => {
    wrong = reason
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
      if (!report) wrong ??= `exit ${code} before its report`
      else if (code && report.failed === 0) wrong ??= `exit ${code} after its tests`
      const seconds = (performance.now() - started) / 1000
      done({ file, report: report ?? { passed: 0, failed: 0 }, wrong, output, seconds })
    })
  })
}

const files = globSync('**/*.test.ts', { cwd: values.dir })
  .filter((file) => words.every((word) => file.includes(word)))
  .toSorted()
const sum: FileReport = { passed: 0, failed: 0 }
const noRig = files.some(isRigged) ? await prepareRig() : undefined
const left = noRig === undefined ? [] : files.filter(isRigged)
const queue = files.filter((file) => !left.includes(file)).values()

async function work(): Promise<void> {
  for (const file of queue) {
    const { report, wrong, output, seconds } = await runFile(file)
    const failed = report.failed + (wrong === undefined ? 0 : 1)
    sum.passed += report.passed
    sum.failed += failed
    console.log(
      `${failed ? 'FAIL' : 'ok  '} ${file}  ${report.passed} passed, ${seconds.toFixed(1)} s  ${wrong ?? ''}`.trimEnd(),
    )
    const worthTelling = failed ? output : (output.match(/^NOT RUN .*/gm) ?? []).join('\n')
    if (worthTelling) console.log(worthTelling.replace(/^/gm, '     '))
  }
}

await Promise.all(Array.from({ length: Number(values.workers) }, work))
for (const file of left) console.log(`NOT RUN ${file}  ${noRig}`)
// On a person's machine the rest is worth knowing; what judges a change has to see all of it.
if (process.env.CI !== undefined) sum.failed += left.length
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0
