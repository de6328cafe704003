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
import { definitions, webhookConfiguration } from './metallb-definitions.ts'

export type Machine = { name: string; address: string }

/** A part of MetalLB that can go and come again. */
export type Part = { start(): Promise<void>; stop(signal?: NodeJS.Signals): Promise<void> }

export type Metallb = {
  /** Teaches Kubernetes MetalLB's resources, and puts its webhooks in their way if it has any. */
  install(): Promise<void>
  controller: Part
  /** The speaker of a node, which is not started yet. */
  speaker(machine: Machine): Promise<Part>
}

export type MetallbOptions = {
  version: MetallbVersion
  mode?: MetallbMode
  /** Whether its admission webhooks are on; they go by the rules of `mode`. Speakers are native in any case. */
  webhooks?: boolean
}

/** MetalLB of a version, outside of pods; nothing of it is there before it is installed and started. */
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
        // Before 0.16 it listens at METALLB_HOST alone.
        host: address,
        // FRR the rig has not; a speaker by itself understands what is written for one with FRR.
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
  await administrator.apply(definitions(programs))
  await administrator.run(['wait', '--for=condition=Established', 'crd', '--all'])
  if (plan.webhooks) await administrator.apply(webhookConfiguration(programs, authority))
}

/** In its first generations everything is configured here; whoever installs MetalLB makes it. */
function emptyConfigMap(): object {
  const metadata = { name: 'config', namespace: metallbNamespace }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { config: '' } }
}

/** MetalLB wants to know the pods that it runs in; these never run. */
function placeholder(name: string): object {
  const containers = [{ name: 'none', image: 'none.invalid/none' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: metallbNamespace },
    spec: { automountServiceAccountToken: false, nodeSelector: { none: 'none' }, containers },
  }
}

/** The API server's own certificate is for 127.0.0.1 too, and is here already; MetalLB looks for it below TMPDIR. */
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
  const deadlineMs = Date.now() + 60_000
  while (!(await isOpen(host, port))) {
    if (!child.isRunning()) throw new Error(`it ended while starting; its log: ${logFile}`)
    if (Date.now() > deadlineMs) throw new Error(`${host}:${port} is not open after 60 s; the log: ${logFile}`)
    await sleep(50)
  }
}

function isOpen(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, host, () => resolve(true)).on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
