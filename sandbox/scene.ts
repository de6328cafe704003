import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { progress } from './progress.ts'
import { controlPlanePrograms } from './control-plane/build.ts'
import { type Stage, setStage } from './stage.ts'

/** A cluster whose addresses come from Dallas unless a Service says otherwise, and a cloud that takes its time. */
const env = { METAL_METRO_NAME: 'da', EIP_SERVICE_LOCATION_WINS: 'true' }
const latencyMs = 250

export type Scene = { stage: Stage; dir: string; programs: string; latencyMs: number }

/** Sets the stage for a person, says how far it is, and takes it down again whatever happens to `play`. */
export async function withScene(play: (scene: Scene, interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const programs = await controlPlanePrograms()
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const shown = progress('starting etcd, kube-apiserver, kube-controller-manager and a simulated Equinix Metal')
  let stage: Stage | undefined
  try {
    stage = await setStage({ dir })
    stage.cloud.door.latency.set({ ms: latencyMs })
    shown.update('eip-admission')
    await stage.serve({ env })
    shown.done('ready')
    await play({ stage, dir, programs, latencyMs }, interrupted.signal)
    if (process.exitCode) console.log(`The logs are in ${join(dir, 'logs')}`)
  } finally {
    await stage?.stop()
    if (!process.exitCode) rmSync(dir, { recursive: true, force: true })
  }
}
