import { join } from 'node:path'
import type { Child } from '../child.ts'
import { count } from '../control-plane/count.ts'
import { waitUntilReady } from '../control-plane/wait-until-ready.ts'
import { type Member, apiServerArgs, etcdArgs, ports } from './args.ts'
import type { CloudMachine } from './cloud.ts'
import { type Credentials, administrator } from './credentials.ts'
import { type ProxyAnswer, tellProxy } from './proxy-control.ts'
import type { Network } from './network.ts'
import { type Program, makeProgram } from './program.ts'

export type ProgramName = 'etcd' | 'proxy' | 'apiServer' | 'guardian'

/** A control-plane machine: a member of etcd, an API server, and a guardian once the test gives it one. */
export type Machine = CloudMachine & {
  /** The kubeconfig of an administrator who uses this machine's API server. */
  kubeconfig: string
  /** In the order in which the machine starts them. */
  programs: Map<ProgramName, Program>
  program(name: ProgramName): Program
  /** Makes the API server's answers slow or bad, or normal again; only with a proxy. */
  answer(as: ProxyAnswer): Promise<void>
  linkDown(): Promise<void>
  linkUp(): Promise<void>
  /** Cuts the machine's power: its cable is dead, and no program shuts down gracefully. */
  gone(): Promise<void>
  /** Starts the machine again with the contents of its disk. */
  back(): Promise<void>
  /** Ends every program. */
  end(): Promise<void>
}

export type MachineOptions = {
  machine: CloudMachine
  members: Member[]
  /** The folder of the files that the machines share, and that of the programs. */
  dir: string
  binaries: string
  logs: string
  network: Network
  credentials: Credentials
  /** The control-plane address, if the machine's API server has a proxy. */
  proxyFor?: string
}

/** The folder of a machine's data and certificates. */
export const memberDir = (dir: string, { name }: Pick<CloudMachine, 'name'>) => join(dir, name)

/** Makes a machine of the cluster without starting its programs. */
export function makeMachine(options: MachineOptions): Machine {
  const { machine, network, credentials, proxyFor } = options
  const { name } = machine
  count('started')
  const member = memberOf(options)
  const programs = new Map<ProgramName, Program>([['etcd', etcdOf(options, member)]])
  if (proxyFor !== undefined) programs.set('proxy', proxyOf(options, { member, proxyFor }))
  programs.set('apiServer', apiServerOf(options, member))
  // Clients of etcd end first: an API server without etcd does not shut down gracefully. No data here needs a flush.
  const end = async () => {
    for (const program of [...programs.values()].toReversed()) await program.end()
  }
  return {
    ...machine,
    kubeconfig: credentials.kubeconfigFor(administrator, member),
    programs,
    program(wanted) {
      const program = programs.get(wanted)
      if (!program) throw new Error(`${name} has no program ${wanted}`)
      return program
    },
    answer: (as) => tellProxy(controlSocket(member), as),
    linkDown: () => network.setLink(name, 'down'),
    linkUp: () => network.setLink(name, 'up'),
    async gone() {
      await network.setLink(name, 'down')
      await end()
    },
    async back() {
      await network.setLink(name, 'up')
      for (const program of programs.values()) await program.start()
    },
    end,
  }
}

function memberOf({ members, machine }: MachineOptions): Member {
  const member = members.find(({ name }) => name === machine.name)
  if (!member) throw new Error(`etcd has no member ${machine.name}`)
  return member
}

const logOf = ({ logs, machine }: MachineOptions, program: string) => join(logs, `${machine.name}-${program}.log`)

function etcdOf(options: MachineOptions, member: Member): Program {
  const { machine, members, binaries, network } = options
  return makeProgram({
    command: network.on(machine.name, [join(binaries, 'etcd'), ...etcdArgs(member, members)]),
    logFile: logOf(options, 'etcd'),
  })
}

function apiServerOf(options: MachineOptions, member: Member): Program {
  const { machine, dir, binaries, network, credentials, proxyFor } = options
  const log = logOf(options, 'api-server')
  const url = `https://${machine.privateAddress}:${ports.api}`
  const args = [
    ...apiServerArgs(member, { dir, ...(proxyFor !== undefined && { bind: '127.0.0.1' }) }),
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${dir}/sa.key`,
    `--service-account-signing-key-file=${dir}/sa.key`,
    '--disable-admission-plugins=ServiceAccount',
  ]
  return makeProgram({
    command: network.on(machine.name, [join(binaries, 'kube-apiserver'), ...args]),
    logFile: log,
    ready: (child: Child) => waitUntilReady({ url, token: credentials.tokenOf(administrator), child, log }),
  })
}

const controlSocket = ({ dir }: Member) => join(dir, 'proxy.sock')

function proxyOf(options: MachineOptions, { member, proxyFor }: { member: Member; proxyFor: string }): Program {
  const { machine, dir, network } = options
  const { privateAddress, publicAddress } = machine
  const files = [join(member.dir, 'api-server.crt'), join(member.dir, 'api-server.key'), join(dir, 'ca.crt')]
  const args = [...files, controlSocket(member), privateAddress, publicAddress, proxyFor]
  return makeProgram({
    command: network.on(machine.name, [process.execPath, join(import.meta.dirname, 'proxy.ts'), ...args]),
    logFile: logOf(options, 'proxy'),
  })
}
