import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { showProgress } from './progress.ts'
import { controlPlanePrograms } from './control-plane/build.ts'
import { type DialectName, dialectNamed, dialects } from './dialects.ts'
import { type Stage, setStage } from './stage.ts'

/** A cloud that takes its time. */
const latencyMs = 250

export type Sandbox = { stage: Stage<DialectName>; dir: string; programs: string; latencyMs: number }

/**
 * Sets the stage for a person, with the cloud that `--cloud` names, says how far it is, and takes it down again
 * whatever happens to `play`.
 */
export async function runSandbox(play: (sandbox: Sandbox, interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const dialect = chosenDialect()
  if (!dialect) return
  const { cloudName, here } = dialects[dialect]
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const programs = await controlPlanePrograms()
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const progress = showProgress(`starting etcd, kube-apiserver, kube-controller-manager and a simulated ${cloudName}`)
  let stage: Stage<DialectName> | undefined
  try {
    stage = await setStage({ dir, dialect })
    stage.cloud.door.latency.set({ ms: latencyMs })
    progress.update('eip-admission')
    await stage.serve({ env: { ...here, EIP_SERVICE_LOCATION_WINS: 'true' } })
    progress.done('ready')
    await play({ stage, dir, programs, latencyMs }, interrupted.signal)
    if (process.exitCode) console.log(`The logs are in ${join(dir, 'logs')}`)
  } finally {
    await stage?.stop()
    if (!process.exitCode) rmSync(dir, { recursive: true, force: true })
  }
}

function chosenDialect(): DialectName | undefined {
  try {
    const { cloud } = parseArgs({ options: { cloud: { type: 'string', default: 'equinix-metal' } } }).values
    return dialectNamed(cloud)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
    return undefined
  }
}
