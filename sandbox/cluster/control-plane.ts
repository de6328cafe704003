// The control plane of a cluster: etcd, an API server, a controller manager and a scheduler on each of its machines.
import { basename, join } from 'node:path'
import { type Member, apiServerArgs, etcdArgs, ports } from '../control-planes/args.ts'
import type { Credentials } from '../control-planes/credentials.ts'
import type { Network } from '../control-planes/network.ts'
import { type Program, type ProgramOptions, makeProgram } from '../control-planes/program.ts'
import { waitUntilReady } from '../control-plane/wait-until-ready.ts'
import type { ClusterPrograms } from './programs.ts'

/** The file with the key that signs the tokens of service accounts, and the one with all keys whose tokens are accepted. */
export const [signingKey, acceptedKeys] = ['sa.key', 'sa-accepted.keys'] as const

/** The programs of each machine by its name, in the order in which they start. */
export type ControlPlane = ReadonlyMap<string, Program[]>

export type ControlPlaneOptions = {
  dir: string
  programs: ClusterPrograms
  network: Network
  members: Member[]
  /** The token of the administrator. */
  token: string
  kubeconfigFor: Credentials['kubeconfigFor']
}

/** Makes the programs of each machine, without starting them. */
export function controlPlane(options: ControlPlaneOptions): ControlPlane {
  return new Map(options.members.map((member) => [member.name, programsOf(options, member)]))
}

/** Starts all of it. */
export async function startControlPlane(machines: ControlPlane): Promise<void> {
  await startTogether([...machines.values()])
}

/** Restarts the programs except etcd, so that they read their keys again. */
export async function restartControlPlane(machines: ControlPlane): Promise<void> {
  const parts = [...machines.values()].map(([, ...others]) => others)
  await Promise.all(parts.map(endAll))
  await startTogether(parts)
}

/** An API server starts only when the other members of etcd run. */
async function startTogether(machines: Program[][]): Promise<void> {
  const [first = []] = machines
  for (const n of first.keys()) await Promise.all(machines.map(async (programs) => programs[n]?.start()))
}

/** Ends programs, those first that use the others. */
export async function endAll(programs: Program[]): Promise<void> {
  for (const program of programs.toReversed()) await program.end()
}

function programsOf(options: ControlPlaneOptions, member: Member): Program[] {
  const { dir, programs, network, members, token } = options
  const built = (name: string) => join(programs.controlPlane, name)
  const logOf = (program: string) => join(dir, 'logs', `${basename(program)}-${member.name}.log`)
  const part = (program: string, args: string[], ready?: ProgramOptions['ready']) =>
    makeProgram({
      command: network.on(member.name, [program, ...args]),
      logFile: logOf(program),
      ...(ready && { ready }),
    })
  const url = `https://${member.address}:${ports.api}`
  return [
    part(built('etcd'), etcdArgs(member, members)),
    part(built('kube-apiserver'), serverArgs(dir, member), (child) =>
      waitUntilReady({ url, token, child, log: logOf('kube-apiserver') }),
    ),
    part(built('kube-controller-manager'), [
      ...clientArgs(options, member, 'system:kube-controller-manager'),
      `--service-account-private-key-file=${join(dir, signingKey)}`,
      `--root-ca-file=${dir}/ca.crt`,
      '--use-service-account-credentials=true',
    ]),
    part(join(programs.node, 'kube-scheduler'), clientArgs(options, member, 'system:kube-scheduler')),
  ]
}

function clientArgs({ kubeconfigFor, members }: ControlPlaneOptions, member: Member, user: string): string[] {
  const file = kubeconfigFor(user, member)
  const flags = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig']
  return [
    ...flags.map((flag) => `--${flag}=${file}`),
    // A restart of the only process would wait for the lease of the one before.
    `--leader-elect=${members.length > 1}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${member.dir}`,
  ]
}

function serverArgs(dir: string, member: Member): string[] {
  return [
    ...apiServerArgs(member, { dir }),
    `--client-ca-file=${dir}/ca.crt`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // No DNS server knows the names of nodes.
    '--kubelet-preferred-address-types=InternalIP',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(dir, acceptedKeys)}`,
    `--service-account-signing-key-file=${join(dir, signingKey)}`,
  ]
}
