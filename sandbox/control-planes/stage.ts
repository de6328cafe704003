import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { controlPlanePrograms } from '../control-plane/build.ts'
import { type Kubectl, kubectlOf } from '../kubectl.ts'
import { type Member, ports } from './args.ts'
import { type Assignment, followAssignment } from './assignment.ts'
import { type Client, startClient } from './client.ts'
import type { Cloud } from './cloud.ts'
import { type Authority, type Credentials, administrator, makeAuthority, writeCredentials } from './credentials.ts'
import { type Machine, makeMachine, memberDir } from './machine.ts'
import { type Network, cloudAddress, createNetwork } from './network.ts'
import { registerNodes } from './nodes.ts'
import { openCherryServers } from './cherry-servers.ts'
import { openEquinixMetal } from './equinix-metal.ts'

/** The clouds whose addresses can be assigned to one machine, by dialect. */
const clouds = { 'equinix-metal': openEquinixMetal, 'cherry-servers': openCherryServers } as const

type CloudName = keyof typeof clouds

/** Three control-plane machines, a cloud that assigns an address to one of them, and a client that reads through it. */
export type ControlPlanes = {
  dir: string
  cloud: Cloud
  machines: Machine[]
  network: Network
  credentials: Credentials
  assignment: Assignment
  client: Client
  machine: (name: string) => Machine
  /** Runs kubectl as the administrator at a machine's API server. */
  kubectlAt: (machine: Machine) => Kubectl
  stop(): Promise<void>
}

export type ControlPlanesOptions = {
  dir: string
  /** `equinix-metal` when absent. */
  cloud?: CloudName
  /** Whether machines always have the address, or only while it is assigned to them. */
  alias?: 'always' | 'while-assigned'
  /** Users besides the administrator, with their groups. */
  users?: Record<string, string[]>
  /** How long the client waits for an answer. A second when absent. */
  clientTimeoutMs?: number
  /** The machines whose API server has a proxy, which makes its answers slow or bad on request. */
  proxies?: string[]
}

const names = ['control-0', 'control-1', 'control-2']
const clientAddress = '192.0.2.20'

/** The names in every serving certificate besides the machine's own address and the control-plane address. */
const sharedHosts = ['127.0.0.1', '10.96.0.1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc']

/** Starts everything except the guardians, which the caller starts. The address is at the first machine. */
export async function startControlPlanes(options: ControlPlanesOptions): Promise<ControlPlanes> {
  const { dir, alias = 'always', clientTimeoutMs = 1_000 } = options
  const network = await createNetwork()
  const authority = await makeAuthority(dir)
  const tls = await authority.issue([cloudAddress])
  const cloud = await clouds[options.cloud ?? 'equinix-metal']({ host: cloudAddress, tls, ca: authority.cert, names })
  const cluster = await startCluster({ options, network, cloud, authority })
  const { machines, credentials } = cluster
  await cloud.assign(names[0])
  const assignment = await followAssignment({ cloud, network, alias })
  await network.attach({ name: 'client', addresses: [clientAddress] })
  const client = startClient({
    on: (command) => network.on('client', command),
    url: `https://${cloud.address}:${ports.api}/api/v1/namespaces/kube-system`,
    authorityFile: join(dir, 'ca.crt'),
    token: credentials.tokenOf(administrator),
    timeoutMs: clientTimeoutMs,
    logFile: join(dir, 'logs', 'client.log'),
  })
  return {
    dir,
    cloud,
    network,
    assignment,
    client,
    ...cluster,
    machine(name) {
      const machine = machines.find((one) => one.name === name)
      if (!machine) throw new Error(`no machine is called ${name}`)
      return machine
    },
    async stop() {
      await client.stop()
      await assignment.stop()
      await Promise.all(machines.map((machine) => machine.end()))
      await cloud.close()
      await network.remove()
    },
  }
}

type Place = { options: ControlPlanesOptions; network: Network; cloud: Cloud; authority: Authority }

async function startCluster({ options, network, cloud, authority }: Place) {
  const { dir, users = {}, proxies = [], alias = 'always' } = options
  if (alias !== 'always' && proxies.length > 0)
    throw new Error('a proxy listens at the control-plane address: its machine must have it always')
  const binaries = await controlPlanePrograms()
  const logs = join(dir, 'logs')
  mkdirSync(logs, { recursive: true })
  const members = cloud.machines.map((machine): Member => ({
    name: machine.name,
    address: machine.privateAddress,
    dir: memberDir(dir, machine),
  }))
  const credentials = await writeCredentials({
    dir,
    authority,
    members,
    sharedHosts: [cloud.address, ...sharedHosts],
    users,
  })
  const machines: Machine[] = []
  for (const machine of cloud.machines) {
    const { name, privateAddress, publicAddress } = machine
    await network.attach({ name, addresses: [privateAddress, publicAddress] })
    if (alias === 'always') await network.setAlias(name, cloud.address, 'present')
    const shared = { dir, logs, binaries, members, network, credentials }
    machines.push(makeMachine({ ...shared, machine, ...(proxies.includes(name) && { proxyFor: cloud.address }) }))
  }
  for (const name of ['etcd', 'proxy', 'apiServer'] as const) {
    await Promise.all(machines.map(async ({ programs }) => programs.get(name)?.start()))
  }
  const kubectlAt = ({ kubeconfig }: Machine) => kubectlOf({ kubectl: join(binaries, 'kubectl'), kubeconfig, dir })
  await registerNodes({ machines, cloud, kubectlAt })
  return { machines, credentials, kubectlAt }
}
