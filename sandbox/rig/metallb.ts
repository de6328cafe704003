import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../child.ts'
import type { ControlPlane } from '../control-plane/start.ts'
import { type MetallbPrograms, type MetallbVersion, metallbPrograms } from '../metallb/build.ts'
import { type Administrator, makeAdministrator } from './administrator.ts'
import {
  type MetallbMode,
  type MetallbPlan,
  controllerArgs,
  isSince,
  metallbNamespace,
  speakerArgs,
} from './metallb-args.ts'
import { crdManifest, webhookConfiguration } from './metallb-definitions.ts'
import type { Machine } from './register-machine.ts'

/** A process of MetalLB that can be stopped and started again. */
export type Part = { start(): Promise<void>; stop(signal?: NodeJS.Signals): Promise<void> }

export type Metallb = {
  /** Installs MetalLB's CRDs, and its webhooks if they are enabled. */
  install(): Promise<void>
  controller: Part
  /** Makes the speaker of a node, without starting it. */
  speaker(machine: Machine): Promise<Part>
}

export type MetallbOptions = {
  version: MetallbVersion
  mode?: MetallbMode
  /** Whether its admission webhooks are enabled; they validate for `mode`. Speakers are always native. */
  webhooks?: boolean
}

/** Makes a MetalLB of a version that runs outside of pods; the caller installs and starts it. */
export async function makeMetallb(controlPlane: ControlPlane, options: MetallbOptions): Promise<Metallb> {
  const { version, mode = 'native', webhooks = false } = options
  const programs = await metallbPrograms(version)
  const { dir, kubeconfig } = controlPlane
  const plan: MetallbPlan = { version, kubeconfig, webhooks }
  const administrator = makeAdministrator(controlPlane)
  const env = { ...process.env, METALLB_BGP_TYPE: mode }
  let speakers = 0
  return {
    install: () => install({ plan, programs, administrator, authority: authorityOf(dir) }),
    controller: makePart(join(dir, 'logs', 'metallb-controller.log'), {
      ...controllerArgs(plan),
      program: programs.controller,
      host: '127.0.0.1',
      env: { ...env, TMPDIR: webhookCertificate(dir) },
    }),
    async speaker({ name, address }) {
      await administrator.apply(placeholder(`speaker-${name}`))
      speakers += 1
      return makePart(join(dir, 'logs', `metallb-speaker-${name}.log`), {
        ...speakerArgs(plan, name, speakers),
        program: programs.speaker,
        // Before 0.16 the speaker listens only at METALLB_HOST.
        host: address,
        // The rig has no FRR; a native speaker reads the same resources as one with FRR.
        env: { ...process.env, METALLB_BGP_TYPE: 'native', METALLB_HOST: address },
      })
    },
  }
}

type Setup = { plan: MetallbPlan; programs: MetallbPrograms; administrator: Administrator; authority: string }

async function install({ plan, programs, administrator, authority }: Setup): Promise<void> {
  await administrator.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: metallbNamespace } })
  await administrator.apply(placeholder('controller'))
  if (!isSince(plan.version, '0.13')) return administrator.apply(emptyConfigMap())
  await administrator.apply(crdManifest(programs))
  await administrator.run(['wait', '--for=condition=Established', 'crd', '--all'])
  if (plan.webhooks) await administrator.apply(webhookConfiguration(programs, authority))
}

/** The ConfigMap that configures MetalLB before 0.13, empty; the administrator who installs MetalLB creates it. */
function emptyConfigMap(): object {
  const metadata = { name: 'config', namespace: metallbNamespace }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { config: '' } }
}

/** Returns a pod that never runs: MetalLB looks up the pod that it runs in. */
function placeholder(name: string): object {
  const containers = [{ name: 'none', image: 'none.invalid/none' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: metallbNamespace },
    spec: { automountServiceAccountToken: false, nodeSelector: { none: 'none' }, containers },
  }
}

/** Links the API server's certificate, which is valid for 127.0.0.1, to where MetalLB looks for one below TMPDIR. */
function webhookCertificate(dir: string): string {
  const temporary = join(dir, 'metallb')
  const folder = join(temporary, 'k8s-webhook-server', 'serving-certs')
  mkdirSync(folder, { recursive: true })
  for (const kind of ['crt', 'key']) symlinkSync(join(dir, 'certs', `apiserver.${kind}`), join(folder, `tls.${kind}`))
  return temporary
}

function authorityOf(dir: string): string {
  const pem = readFileSync(join(dir, 'certs', 'apiserver.crt'), 'utf8')
  return pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----'))
}

type Program = { program: string; args: string[]; host: string; port: number; env: NodeJS.ProcessEnv }

function makePart(logFile: string, { program, args, host, port, env }: Program): Part {
  let child: Child | undefined
  return {
    async start() {
      child = startChild([program, ...args], { logFile, env })
      await waitUntilListening({ child, host, port, logFile })
    },
    async stop(signal = 'SIGTERM') {
      await child?.stop(signal, 3000)
    },
  }
}

type Listener = { child: Child; host: string; port: number; logFile: string }

async function waitUntilListening({ child, host, port, logFile }: Listener): Promise<void> {
  const deadlineMs = Date.now() + 180_000
  while (!(await isOpen(host, port))) {
    if (!child.isRunning()) throw new Error(`MetalLB ended while it started; read its log: ${logFile}`)
    if (Date.now() > deadlineMs)
      throw new Error(`${host}:${port} is not open after 180 s; read MetalLB's log: ${logFile}`)
    await sleep(50)
  }
}

function isOpen(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, host, () => resolve(true)).on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
