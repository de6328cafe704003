// A cluster of real nodes on one machine, with a simulated cloud, a router and a client outside. It runs in
// namespaces of its own: see namespaced() in ../rig/namespace.ts.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { repeat } from '../../lib/repeat.ts'
import { type ChildOptions, startChild } from '../child.ts'
import { type Member, ports } from '../control-planes/args.ts'
import {
  type CredentialOptions,
  type Credentials,
  administrator,
  makeAuthority,
  writeCredentials,
} from '../control-planes/credentials.ts'
import { type Network, cloudAddress, createNetwork } from '../control-planes/network.ts'
import { type Kubectl, kubectlOf } from '../kubectl.ts'
import { administratorWith } from '../rig/administrator.ts'
import { type Routers, startRouters } from '../rig/routers.ts'
import {
  type CloudMachine,
  type ClusterCloud,
  type ClusterCloudName,
  type Learned,
  clusterClouds,
  hasControlPlane,
} from './clouds.ts'
import {
  type ControlPlane,
  acceptedKeys,
  controlPlane,
  restartControlPlane,
  signingKey,
  startControlPlane,
} from './control-plane.ts'
import { type ClusterNode, type NodeOptions, makeNode } from './node.ts'
import type { ClusterPrograms } from './programs.ts'

const clientAddress = '192.0.2.20'

/** The machines of the cloud. */
export const machineNames = ['control-1', 'worker-1', 'worker-2']

/** Machines of a cluster whose API servers users reach by an address of the cloud. */
export const controlPlaneNames = ['control-1', 'control-2', 'control-3']

export type Cluster = {
  dir: string
  kubectl: Kubectl
  kubeconfig: string
  nodes: ClusterNode[]
  cloud: ClusterCloud
  /** The certificate of the authority of the API server and of the cloud. */
  authority: string
  apiServer: string
  /** The token of the administrator. */
  token: string
  network: Network
  /** Restarts the control plane's programs except etcd, so that they read their keys again. */
  restartControlPlane(): Promise<void>
  /** Runs a command on the client outside, and returns its exit code. */
  atClient: (command: string[], options?: ChildOptions) => Promise<number | null>
  stop(): Promise<void>
}

export type ClusterOptions = {
  dir: string
  programs: ClusterPrograms
  /** `machineNames` when absent. */
  names?: string[] | undefined
  cloudName?: ClusterCloudName | undefined
  onStep?: (step: string) => void
}

/** Starts the cluster. Its nodes have registered; they have the taints of new ones, and no pod network. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dir, programs, names = machineNames, cloudName = 'hetzner', onStep = () => {} } = options
  onStep('the control plane')
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const { network, authority, cloud } = await openCloud(dir, names, cloudName)
  const members = cloud.machines.map(({ name, address }): Member => ({ name, address, dir: join(dir, name) }))
  const [first] = members as [Member]
  const address = cloud.controlPlaneAddress ?? first.address
  const { kubeconfigFor, tokenOf } = await makeCredentials({ dir, authority, members, address })
  const token = tokenOf(administrator)
  const shared = { dir, programs, network, kubeconfigFor }
  const parts = controlPlane({ ...shared, members: members.filter(hasControlPlane), token })
  await startControlPlane(parts)
  const nodes = makeNodes(members, parts, shared)
  const way = await openWay(cloud, network, dir)
  const kubeconfig = kubeconfigFor(administrator, { dir: first.dir, address })
  const kubectl = kubectlOf({ kubectl: join(programs.controlPlane, 'kubectl'), kubeconfig, dir })
  onStep('containerd and kubelet of each node')
  await startNodes(nodes, kubectl)
  return {
    dir,
    kubectl,
    kubeconfig,
    nodes,
    cloud,
    authority: authority.cert,
    apiServer: `https://${address}:${ports.api}`,
    token,
    network,
    restartControlPlane: () => restartControlPlane(parts),
    atClient: (command, more = {}) =>
      startChild(network.on('client', command), { logFile: join(dir, 'logs', 'client.log'), ...more }).exited,
    async stop() {
      await way.stop()
      await Promise.all(nodes.map((node) => node.powerOff()))
      await cloud.close()
      await network.remove()
    },
  }
}

/** Opens the cloud, and connects its machines and a client outside to the router. */
async function openCloud(dir: string, names: string[], cloudName: ClusterCloudName) {
  const network = await createNetwork()
  const authority = await makeAuthority(dir)
  const tls = await authority.issue([cloudAddress])
  const cloud = await clusterClouds[cloudName]({ host: cloudAddress, tls, ca: authority.cert, names })
  for (const machine of cloud.machines) await network.attach(machine)
  const { controlPlaneAddress: address, machines } = cloud
  if (address !== undefined)
    for (const { name } of machines.filter(hasControlPlane)) await network.setAlias(name, address, 'present')
  await network.attach({ name: 'client', addresses: [clientAddress] })
  return { network, authority, cloud }
}

type Access = Pick<CredentialOptions, 'dir' | 'authority' | 'members'> & { address: string }

/** Writes the files of the API servers, whose certificates also name the address by which users reach them. */
async function makeCredentials({ address, ...access }: Access): Promise<Credentials> {
  const { dir, members } = access
  const sharedHosts = ['10.96.0.1', 'kubernetes.default.svc', address]
  const credentials = await writeCredentials({ ...access, sharedHosts, users: usersOf(members) })
  copyFileSync(join(dir, signingKey), join(dir, acceptedKeys))
  return credentials
}

/** Switches the nodes on, and waits until they have registered. */
async function startNodes(nodes: ClusterNode[], kubectl: Kubectl): Promise<void> {
  for (const node of nodes) await node.powerOn()
  const { run } = administratorWith(kubectl)
  // kubectl waits for the creation of one object only.
  for (const { name } of nodes) await run(['wait', '--for=create', '--timeout=300s', `node/${name}`])
}

/** Routes each address to the machines that the cloud names, or that its routers learn. */
async function openWay({ way, machines }: ClusterCloud, network: Network, dir: string): Promise<Pick<Routers, 'stop'>> {
  if ('routes' in way) return follow(network, way.routes)
  const cables = new Map(machines.map(({ name, addresses }) => [addresses[0] ?? '', network.cableOf(name)]))
  for (const address of way.bgp.routers) await network.addRouterAddress(address)
  const routers = await startRouters({ dir, provider: way.bgp, cables })
  const stopShowing = inBackground(2000, async () => way.show(await learnedOf(routers, machines)))
  return {
    async stop() {
      await stopShowing()
      await routers.stop()
    },
  }
}

/** The sessions and routes of each machine. Its sessions come from its first address. */
async function learnedOf(routers: Routers, machines: readonly CloudMachine[]): Promise<Learned[]> {
  const [sessions, routes] = [await routers.sessions(), await routers.routes()]
  return machines.map(({ name, addresses: [source] }) => ({
    machine: name,
    sessions: sessions.filter(({ machine }) => machine === source).length,
    routes: [...new Set(routes.flatMap(({ prefix, via }) => (via === source ? [prefix] : [])))],
  }))
}

function usersOf(members: readonly Member[]): Record<string, string[]> {
  const programs = ['system:kube-controller-manager', 'system:kube-scheduler', 'system:kube-proxy']
  return {
    ...Object.fromEntries(programs.map((name) => [name, []])),
    ...Object.fromEntries(members.map(({ name }) => [kubeletUser(name), ['system:nodes']])),
  }
}

const kubeletUser = (node: string) => `system:node:${node}`

type Shared = Pick<NodeOptions, 'dir' | 'programs' | 'network'> & Pick<Credentials, 'kubeconfigFor'>

/** Makes the nodes, which are off. A machine without an API server uses that of the first one. */
function makeNodes(members: Member[], parts: ControlPlane, { kubeconfigFor, ...shared }: Shared): ClusterNode[] {
  const env = shared.programs.env(shared.dir)
  return members.map((member, at) => {
    const { name, address, dir: own } = member
    const [server = member] = hasControlPlane(member) ? [member] : members
    const kubeconfigs = {
      kubelet: kubeconfigFor(kubeletUser(name), server),
      proxy: kubeconfigFor('system:kube-proxy', server),
    }
    const podRange = `10.244.${at + 1}.0/24`
    return makeNode({ ...shared, name, address, own, podRange, controlPlane: parts.get(name) ?? [], kubeconfigs, env })
  })
}

/** Keeps the network's routes in line with the cloud's assignments. */
function follow(network: Network, routes: () => ReadonlyMap<string, string | undefined>): Pick<Routers, 'stop'> {
  const routed = new Map<string, string | undefined>()
  const stop = inBackground(50, async () => {
    for (const [address, machine] of routes()) {
      if (routed.has(address) && routed.get(address) === machine) continue
      routed.set(address, machine)
      await network.route(address, machine)
    }
  })
  return { stop }
}

/** Repeats the work. Returns a function that stops it and waits for the last round. */
function inBackground(everyMs: number, work: () => Promise<void>): () => Promise<void> {
  const stopping = new AbortController()
  const loop = repeat(work, { everyMs, signal: stopping.signal })
  return async () => {
    stopping.abort()
    await loop
  }
}
