// Builds promtool from the Go module in this folder, once.
import { join } from 'node:path'
import { goPrograms } from '../go-programs.ts'

/** Returns the path of promtool, which checks and tests alert rules, and builds it if it is missing. */
export async function promtoolProgram(): Promise<string> {
  const folder = await goPrograms({
    name: 'promtool',
    version: 'v0.316.0',
    dir: import.meta.dirname,
    programs: [{ name: 'promtool', package: 'github.com/prometheus/prometheus/cmd/promtool', built: 'promtool' }],
    // Service discovery is most of Prometheus, with the clients of every cloud, and no rule needs it.
    flags: ['-trimpath', '-tags', 'remove_all_sd', '-ldflags', '-s -w'],
    takes: 'a few minutes on 2 cores',
  })
  return join(folder, 'promtool')
}

if (import.meta.main) console.log(await promtoolProgram())
