import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { showProgress } from './progress.ts'
import { controlPlanePrograms } from './control-plane/build.ts'
import { type DialectName, dialectNamed, dialects } from './dialects.ts'
import { type Stage, setStage } from './stage.ts'

/** How long the simulated cloud takes for a call: about as long as a real one. */
const latencyMs = 250

/** A running sandbox: `dir` holds its data and logs, `programs` is the folder of kubectl. */
export type Sandbox = { stage: Stage<DialectName>; dir: string; programs: string; latencyMs: number }

/**
 * Starts a control plane, eip-admission and the simulated cloud that `--cloud` names, and prints the progress.
 * Calls `use`, then stops everything, also when `use` throws. Keeps the logs of a run that failed.
 */
export async function runSandbox(use: (sandbox: Sandbox, interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const dialect = readDialect()
  if (!dialect) return
  const { cloudName, defaultLocation } = dialects[dialect]
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const programs = await controlPlanePrograms()
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const progress = showProgress(`Starting a Kubernetes control plane and a simulated ${cloudName}`)
  let stage: Stage<DialectName> | undefined
  try {
    stage = await setStage({ dir, dialect })
    stage.cloud.control.latency.set({ ms: latencyMs })
    progress.update('starting eip-admission')
    await stage.serve({ env: { ...defaultLocation, EIP_SERVICE_LOCATION_WINS: 'true' } })
    progress.done('ready')
    await use({ stage, dir, programs, latencyMs }, interrupted.signal)
    if (process.exitCode) console.log(`Read the logs in ${join(dir, 'logs')}`)
  } finally {
    await stage?.stop()
    if (!process.exitCode) rmSync(dir, { recursive: true, force: true })
  }
}

function readDialect(): DialectName | undefined {
  try {
    const { cloud } = parseArgs({ options: { cloud: { type: 'string', default: 'equinix-metal' } } }).values
    return dialectNamed(cloud)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
    return undefined
  }
}
