// Makes the recordings in test/manifests/alert-recordings again, by real runs. A run that fires other alerts than its test
// says is not kept. Words and phrases select tests as those of test/run.ts do.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** With it, each real run keeps its recording. */
export const recordVariable = 'RECORD_ALERTS'

if (import.meta.main) {
  const run = join(import.meta.dirname, '..', '..', 'run.ts')
  const words = process.argv.slice(2)
  const { status } = spawnSync(process.execPath, [run, ...(words.length > 0 ? words : ['whole/alerts/'])], {
    stdio: 'inherit',
    env: { ...process.env, [recordVariable]: 'true' },
  })
  process.exitCode = status ?? 1
}
