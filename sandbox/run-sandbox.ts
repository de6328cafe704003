import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BackgroundBuild, buildInBackground } from './background-build.ts'
import { showProgress } from './progress.ts'
import { apiServerPrograms, controlPlanePrograms } from './control-plane/build.ts'
import { type DialectName, dialectNamed, dialects } from './dialects.ts'
import { dialectExamples } from './dialect-examples.ts'
import { helmProgram } from './helm/build.ts'
import { node, uninitialized } from './objects.ts'
import { waitUntil } from './terminal.ts'
import { type Stage, setStage } from './stage.ts'

/** How long the simulated cloud takes for a call: about as long as a real one. */
const latencyMs = 250

/** A running sandbox. */
export type Sandbox = {
  stage: Stage<DialectName>
  /** How eip-admission was installed: by its command, or by the chart. */
  install: 'command' | 'helm'
  /** Holds data and logs. */
  dir: string
  /** The folder of kubectl. */
  programs: string
  latencyMs: number
  /** kube-controller-manager, which the first Services do not need. */
  controllerManager: BackgroundBuild<string>
  /** Aborts when the sandbox ends, for whatever reason. */
  ended: AbortSignal
}

/**
 * Starts a control plane, eip-admission and the simulated cloud that `--cloud` names, and prints the progress.
 * `--install=helm` installs the chart instead of the command `install`. Calls `use`, then stops everything, even if
 * `use` throws. Keeps the logs of a run that failed.
 */
export async function runSandbox(use: (sandbox: Sandbox, interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const choice = readChoice()
  if (!choice) return
  const { dialect, install } = choice
  const { cloudName, defaultLocation } = dialects[dialect]
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const over = new AbortController()
  const ended = AbortSignal.any([interrupted.signal, over.signal])
  const programs = await apiServerPrograms({ signal: ended })
  if (install === 'helm') await helmProgram()
  const controllerManager = buildInBackground('Building kube-controller-manager', {
    build: controlPlanePrograms,
    signal: ended,
  })
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const progress = showProgress(`Starting a Kubernetes control plane and a simulated ${cloudName}`)
  let stage: Stage<DialectName> | undefined
  try {
    stage = await setStage({ dir, dialect, install, controllerManager: controllerManager.ready })
    stage.cloud.control.latency.set({ ms: latencyMs })
    progress.update('starting eip-admission')
    const { assigned } = dialectExamples[dialect]
    await stage.serve({ env: { ...defaultLocation, ...assigned, EIP_SERVICE_LOCATION_WINS: 'true' } })
    if (assigned) await Promise.all(sandboxNodes.map((name) => addNode(stage as Stage<DialectName>, name)))
    progress.done('ready')
    await use({ stage, install, dir, programs, latencyMs, controllerManager, ended }, interrupted.signal)
    if (process.exitCode) console.log(`Read the logs in ${join(dir, 'logs')}`)
  } finally {
    over.abort()
    await stage?.stop()
    if (!process.exitCode) rmSync(dir, { recursive: true, force: true })
  }
}

/** The nodes to which addresses are assigned. */
export const sandboxNodes = ['worker-1', 'worker-2'] as const

/** Adds a machine to the simulated cloud, and its node. It becomes Ready once eip-admission has found its machine. */
async function addNode({ cloud, project, kubectl }: Stage<DialectName>, name: string): Promise<void> {
  cloud.control.devices.add({ project, hostname: name })
  await kubectl(['create', '-f', '-'], node(name))
  await waitUntil(async () => {
    const { stdout } = await kubectl(['get', 'node', name, '-o', 'jsonpath={.spec.taints[*].key}'])
    return !stdout.includes(uninitialized)
  })
  await kubectl(sayReady(name, 'True'))
}

/** The arguments with which kubectl writes whether a node is Ready. No kubelet runs here. */
export function sayReady(name: string, status: 'True' | 'Unknown'): string[] {
  const patch = { status: { conditions: [{ type: 'Ready', status }] } }
  return ['patch', 'node', name, '--subresource=status', '-p', JSON.stringify(patch)]
}

function readChoice(): { dialect: DialectName; install: 'command' | 'helm' } | undefined {
  try {
    const { cloud, install } = parseArgs({
      options: {
        cloud: { type: 'string', default: 'cherry-servers' },
        install: { type: 'string', default: 'command' },
      },
    }).values
    if (install === 'command' || install === 'helm') return { dialect: dialectNamed(cloud), install }
    throw new Error(`install "${install}": expected command or helm`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
    return undefined
  }
}
