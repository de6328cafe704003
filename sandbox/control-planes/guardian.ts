import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { names, serviceAccountUser } from '../../settings/installed-names.ts'
import { rbac } from '../../manifests/rbac.ts'
import { productCommand } from '../product-command.ts'
import { type Machine, memberDir } from './machine.ts'
import { makeProgram } from './program.ts'
import type { ControlPlanes } from './stage.ts'

const namespace = 'eip-admission'
const port = 10_259
const command = await productCommand()

const guardianUser = serviceAccountUser(namespace, names.guardian)
const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']

/** The user of every guardian with the groups of its ServiceAccount, which the cluster must know from the start. */
export const guardianUsers = { [guardianUser]: groups }

/** Creates the roles, gives each machine a guardian, and waits until one leads and all are ready. */
export async function startGuardians(planes: ControlPlanes, flags: string[] = []): Promise<void> {
  await installRoles(planes)
  await Promise.all(planes.machines.map((machine) => addGuardian(planes, machine, flags)))
  await untilGuarded(planes.machines)
}

/** Replaces every guardian with a new process, which remembers nothing. */
export async function restartGuardians(machines: Machine[]): Promise<void> {
  await Promise.all(machines.map((machine) => machine.program('guardian').end('SIGTERM')))
  await Promise.all(machines.map((machine) => machine.program('guardian').start()))
  await untilGuarded(machines)
}

/** Creates the namespace and the roles, as an installation does. */
async function installRoles({ machines: [machine], kubectlAt }: ControlPlanes): Promise<void> {
  if (!machine) return
  const kubectl = kubectlAt(machine)
  const roles = rbac({ namespace, leaseNamespace: 'kube-system', leaseName: 'unused', announcing: [] })
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  const { code, stderr } = await kubectl(['create', '-f', '-'], {
    apiVersion: 'v1',
    kind: 'List',
    items: [own, ...roles],
  })
  if (code !== 0) throw new Error(`the roles could not be created: ${stderr}`)
}

/** Gives a machine its guardian, which talks to the API server of that machine and starts and ends with it. */
async function addGuardian(planes: ControlPlanes, machine: Machine, flags: string[]): Promise<void> {
  const { network, cloud, credentials, dir } = planes
  const at = { dir: memberDir(dir, machine), address: machine.privateAddress }
  const args = [
    ...cloud.flags,
    '--only=control-plane',
    `--kubeconfig=${credentials.kubeconfigFor(guardianUser, at)}`,
    `--base-url=${cloud.url}`,
    `--node-name=${machine.name}`,
    `--bind-address=${machine.privateAddress}`,
    `--secure-port=${port}`,
    ...flags,
  ]
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const guardian = makeProgram({
    command: network.on(machine.name, [...command, 'serve', ...args]),
    logFile: join(dir, 'logs', `${machine.name}-guardian.log`),
    env: {
      PATH,
      NODE_EXTRA_CA_CERTS: join(dir, 'ca.crt'),
      ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
      ...cloud.env(machine.name),
    },
  })
  machine.programs.set('guardian', guardian)
  await guardian.start()
}

/** Reads a page of a guardian's health and metrics; undefined if it does not answer. */
function readGuardian({ privateAddress: host }: Machine, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = request({ host, port, path, agent: false, signal: AbortSignal.timeout(1000) }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve(answer.statusCode === 200 ? text : undefined))
      answer.on('error', () => resolve(undefined))
    })
    call.on('error', () => resolve(undefined))
    call.end()
  })
}

/** Returns the machine whose guardian may move the address; undefined if none says that it may. */
export async function leaderOf(machines: Machine[]): Promise<Machine | undefined> {
  const pages = await Promise.all(machines.map((machine) => readGuardian(machine, '/metrics')))
  return machines.find((_, n) => /^eip_admission_control_plane_leader 1$/m.test(pages[n] ?? ''))
}

/** Waits until one guardian leads and all running ones are ready; returns the leader's machine. */
export async function untilGuarded(machines: Machine[], withinMs = 120_000): Promise<Machine> {
  const deadlineMs = Date.now() + withinMs
  for (;;) {
    const running = machines.filter(({ programs }) => programs.get('guardian')?.isRunning())
    const pages = await Promise.all(running.map((machine) => readGuardian(machine, '/readyz')))
    const leader = await leaderOf(running)
    if (leader && pages.every((page) => page !== undefined)) return leader
    if (Date.now() > deadlineMs) throw new Error('no guardian leads, or one is not ready; read their logs')
    await sleep(100)
  }
}
