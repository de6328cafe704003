// Asks kstatus, the library by which Flux and Helm 4 judge objects. It is built once from the Go module in this folder.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { goPrograms } from '../../sandbox/go-programs.ts'

const folder = await goPrograms({
  name: 'kstatus',
  version: 'v0.37.2',
  dir: import.meta.dirname,
  programs: [{ name: 'kstatus', package: '.', built: 'kstatus' }],
  flags: ['-trimpath', '-ldflags', '-s -w'],
  takes: 'half a minute on 2 cores',
})

/** How kstatus judges each object, by its name: Current, InProgress, Failed, Terminating or Unknown. */
export async function kstatusOf(items: readonly object[]): Promise<Record<string, string>> {
  const run = promisify(execFile)(join(folder, 'kstatus'))
  run.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const { stdout } = await run
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  )
}
