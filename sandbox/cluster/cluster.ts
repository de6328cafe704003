// A cluster of three real nodes on one machine, with a simulated cloud, a router and a client outside. It runs in
// namespaces of its own: see namespaced() in ../rig/namespace.ts.
import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repeat } from '../../lib/repeat.ts'
import { type Child, type ChildOptions, startChild } from '../child.ts'
import { type Member, etcdArgs, ports } from '../control-planes/args.ts'
import { administrator, makeAuthority, writeCredentials } from '../control-planes/credentials.ts'
import { type Network, cloudAddress, createNetwork } from '../control-planes/network.ts'
import { type Program, makeProgram } from '../control-planes/program.ts'
import { waitUntilReady } from '../control-plane/wait-until-ready.ts'
import { type Kubectl, kubectlOf } from '../kubectl.ts'
import { administratorWith } from '../rig/administrator.ts'
import { type Routers, startRouters } from '../rig/routers.ts'
import { type CloudMachine, type ClusterCloud, type ClusterCloudName, type Learned, clusterClouds } from './clouds.ts'
import { type ClusterNode, makeNode } from './node.ts'
import type { ClusterPrograms } from './programs.ts'

const clientAddress = '192.0.2.20'

/** The machines of the cloud. The first has the control plane. */
export const machineNames = ['control-1', 'worker-1', 'worker-2']

/** The file with the key that signs the tokens of service accounts, and the one with all keys whose tokens are accepted. */
export const [signingKey, acceptedKeys] = ['sa.key', 'sa-accepted.keys'] as const

export type Cluster = {
  dir: string
  kubectl: Kubectl
  kubeconfig: string
  nodes: ClusterNode[]
  cloud: ClusterCloud
  /** The certificate of the authority of the API server and of the cloud. */
  authority: string
  apiServer: string
  /** Restarts the control plane's programs except etcd, so that they read their keys again. */
  restartControlPlane(): Promise<void>
  /** Runs a command on the client outside, and returns its exit code. */
  atClient: (command: string[], options?: ChildOptions) => Promise<number | null>
  stop(): Promise<void>
}

export type ClusterOptions = {
  dir: string
  programs: ClusterPrograms
  cloudName?: ClusterCloudName | undefined
  onStep?: (step: string) => void
}

/** Starts the cluster. Its nodes have registered; they have the taints of new ones, and no pod network. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dir, programs, cloudName = 'hetzner', onStep = () => {} } = options
  onStep('the control plane')
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const { network, authority, cloud } = await openCloud(dir, cloudName)
  const members = cloud.machines.map(({ name, address }): Member => ({ name, address, dir: join(dir, name) }))
  const [first] = members as [Member]
  const credentials = await writeCredentials({ dir, authority, members, sharedHosts, users: usersOf(members) })
  copyFileSync(join(dir, signingKey), join(dir, acceptedKeys))
  const kubeconfigFor = (user: string) => credentials.kubeconfigFor(user, first)
  const adminToken = credentials.tokenOf(administrator)
  const parts = controlPlane({ dir, programs, network, member: first, token: adminToken, kubeconfigFor })
  for (const part of parts) await part.start()
  const nodes = makeNodes(members, { dir, programs, network, kubeconfigFor })
  const way = await openWay(cloud, network, dir)
  const kubeconfig = kubeconfigFor(administrator)
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
    apiServer: `https://${first.address}:${ports.api}`,
    restartControlPlane: () => restart(parts.slice(1)),
    atClient: (command, more = {}) =>
      startChild(network.on('client', command), { logFile: join(dir, 'logs', 'client.log'), ...more }).exited,
    async stop() {
      await way.stop()
      await Promise.all(nodes.map((node) => node.powerOff()))
      for (const part of parts.toReversed()) await part.end()
      await cloud.close()
      await network.remove()
    },
  }
}

async function restart(parts: Program[]): Promise<void> {
  for (const part of parts.toReversed()) await part.end()
  for (const part of parts) await part.start()
}

/** Opens the cloud, and connects its machines and a client outside to the router. */
async function openCloud(dir: string, name: ClusterCloudName) {
  const network = await createNetwork()
  const authority = await makeAuthority(dir)
  const tls = await authority.issue([cloudAddress])
  const cloud = await clusterClouds[name]({ host: cloudAddress, tls, names: machineNames })
  for (const machine of cloud.machines) await network.attach(machine)
  await network.attach({ name: 'client', addresses: [clientAddress] })
  return { network, authority, cloud }
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

const sharedHosts = ['10.96.0.1', 'kubernetes.default.svc']

function usersOf(members: readonly Member[]): Record<string, string[]> {
  const programs = ['system:kube-controller-manager', 'system:kube-scheduler', 'system:kube-proxy']
  return {
    ...Object.fromEntries(programs.map((name) => [name, []])),
    ...Object.fromEntries(members.map(({ name }) => [kubeletUser(name), ['system:nodes']])),
  }
}

const kubeletUser = (node: string) => `system:node:${node}`

type Shared = Pick<ControlPlaneOptions, 'dir' | 'programs' | 'network' | 'kubeconfigFor'>

function makeNodes(members: readonly Member[], { kubeconfigFor, ...shared }: Shared): ClusterNode[] {
  const env = shared.programs.env(shared.dir)
  const proxy = kubeconfigFor('system:kube-proxy')
  return members.map(({ name, address, dir: own }, at) => {
    const kubeconfigs = { kubelet: kubeconfigFor(kubeletUser(name)), proxy }
    const podRange = `10.244.${at + 1}.0/24`
    return makeNode({ ...shared, name, address, own, podRange, isControlPlane: at === 0, kubeconfigs, env })
  })
}

type ControlPlaneOptions = {
  dir: string
  programs: ClusterPrograms
  network: Network
  member: Member
  token: string
  kubeconfigFor: (user: string) => string
}

/** The programs of the control plane, in the order in which they start. */
function controlPlane(options: ControlPlaneOptions): Program[] {
  const { dir, programs, network, member, kubeconfigFor } = options
  const part = (program: string, args: string[], ready?: (child: Child) => Promise<void>) =>
    makeProgram({
      command: network.on(member.name, [program, ...args]),
      logFile: join(dir, 'logs', `${basename(program)}.log`),
      ...(ready && { ready }),
    })
  const built = (name: string) => join(programs.controlPlane, name)
  const log = join(dir, 'logs', 'kube-apiserver.log')
  const url = `https://${member.address}:${ports.api}`
  const clientOf = (user: string) => {
    const file = kubeconfigFor(user)
    const flags = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig']
    return [...flags.map((flag) => `--${flag}=${file}`), '--leader-elect=false', '--bind-address=127.0.0.1']
  }
  return [
    part(built('etcd'), etcdArgs(member, [member])),
    part(built('kube-apiserver'), apiServerArgs(dir, member), (child) =>
      waitUntilReady({ url, token: options.token, child, log }),
    ),
    part(built('kube-controller-manager'), [
      ...clientOf('system:kube-controller-manager'),
      `--cert-dir=${member.dir}`,
      `--service-account-private-key-file=${join(dir, signingKey)}`,
      `--root-ca-file=${dir}/ca.crt`,
      '--use-service-account-credentials=true',
    ]),
    part(join(programs.node, 'kube-scheduler'), [...clientOf('system:kube-scheduler'), `--cert-dir=${member.dir}`]),
  ]
}

function apiServerArgs(dir: string, { address, dir: own }: Member): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=0.0.0.0',
    `--secure-port=${ports.api}`,
    `--advertise-address=${address}`,
    `--tls-cert-file=${own}/api-server.crt`,
    `--tls-private-key-file=${own}/api-server.key`,
    `--client-ca-file=${dir}/ca.crt`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // No DNS server knows the names of nodes.
    '--kubelet-preferred-address-types=InternalIP',
    `--token-auth-file=${dir}/tokens.csv`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(dir, acceptedKeys)}`,
    `--service-account-signing-key-file=${join(dir, signingKey)}`,
  ]
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
