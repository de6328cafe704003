// Renews the recordings in test/manifests/alert-recordings with real runs. A run that fires other alerts than its test
// expects is not kept. Words and phrases select tests as in test/run.ts.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The variable with which each real run keeps its recording. */
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
