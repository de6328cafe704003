// A provider's network, which routes an address to the machine that it is assigned to. Each machine has its own network
// namespace, a real kube-proxy and a pod, but no interface with the address. Clients are outside.
import { readFileSync, writeFileSync } from 'node:fs'
import { type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../child.ts'
import type { ControlPlane } from '../control-plane/start.ts'
import { type Network, cloudAddress, createNetwork } from '../control-planes/network.ts'
import { freePorts } from '../ports.ts'
import { type ProxyMode, proxyArgs, proxyPrograms } from '../rig/kube-proxy.ts'

export const podPort = 8080
export const clientAddress = '192.0.2.20'

/** A machine, the address of its node, and that of its pod. */
export type AssignedMachine = { name: string; address: string; pod: string }

/** The answer to a client, or why it got none. */
export type Answer = { askedMs: number; answeredMs: number; pod?: string; client?: string; error?: string }

export type AskingClient = { answers: () => Answer[]; stop: () => Promise<void> }

export type AssignedRig = {
  network: Network
  /** Adds a machine to the network, and starts kube-proxy and a pod there. Its node is the caller's. */
  start: (machine: AssignedMachine) => Promise<void>
  /**
   * Silences the machine for this long: its packets are dropped, and no router tells senders that it is unreachable.
   */
  silence: (name: string, ms: number) => Promise<void>
  /** Cuts the machine's power: it falls silent, and its programs end. */
  gone: (name: string) => Promise<void>
  /** Requests a URL repeatedly from outside the cluster. */
  client: (url: string, intervalMs?: number) => AskingClient
  stop: () => Promise<void>
}

export type AssignedOptions = {
  controlPlane: ControlPlane
  mode: ProxyMode
  /** The name of the machine of this rig to which the cloud routes each address now. */
  routes: () => ReadonlyMap<string, string | undefined>
}

/** Makes the network, whose routes follow the cloud's assignments; there can be only one at a time. */
export async function setAssignedRig({ controlPlane, mode, routes }: AssignedOptions): Promise<AssignedRig> {
  const network = await createNetwork()
  await network.attach({ name: 'client', addresses: [clientAddress] })
  const door = await openDoor(controlPlane)
  const { end, ...machines } = await makeMachines({ network, mode, dir: controlPlane.dir, kubeconfig: door.kubeconfig })
  const clients: AskingClient[] = []
  const follower = follow(network, routes)
  return {
    network,
    ...machines,
    client(url, intervalMs = 100) {
      const asking = startClient(network, { url, intervalMs })
      clients.push(asking)
      return asking
    },
    async stop() {
      await follower.stop()
      await Promise.all(clients.map((one) => one.stop()))
      await end()
      door.close()
      await network.remove()
    },
  }
}

type Place = { network: Network; mode: ProxyMode; dir: string; kubeconfig: string }
type Machines = Pick<AssignedRig, 'start' | 'silence' | 'gone'> & { end: () => Promise<void> }

/** Makes the rig's machines, which the caller then starts by name. */
async function makeMachines({ network, mode, dir, kubeconfig }: Place): Promise<Machines> {
  const { program, env } = await proxyPrograms()
  const programEnv = env(dir)
  const programs = new Map<string, Child[]>()
  const logOf = (host: string, name: string) => join(dir, 'logs', `${name}-${host}.log`)
  const on = (host: string, name: string, command: string[]) =>
    startChild(network.on(host, command), { logFile: logOf(host, name), env: programEnv })
  const endOne = async (name: string) =>
    void (await Promise.all((programs.get(name) ?? []).map((child) => child.stop('SIGKILL'))))
  const silence = async (name: string, ms?: number) => {
    const code = await on(name, 'nft', ['nft', silentFor(ms)]).exited
    if (code !== 0) throw new Error(`nft ended with ${code}; its log: ${logOf(name, 'nft')}`)
  }
  return {
    silence,
    async start({ name, address, pod }) {
      await network.attach({ name, addresses: [address] })
      await network.setAlias(name, pod, 'present')
      await network.route(pod, name)
      // A pod network does this on each node.
      await on(name, 'sysctl', ['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']).exited
      programs.set(name, [
        on(name, 'pod', [process.execPath, join(import.meta.dirname, 'pod.ts'), name, pod, String(podPort)]),
        on(name, 'kube-proxy', [program, ...proxyArgs({ kubeconfig, node: name, mode })]),
      ])
    },
    async gone(name) {
      await silence(name)
      await endOne(name)
    },
    end: async () => void (await Promise.all([...programs.keys()].map(endOne))),
  }
}

/** Drops every packet. The kernel stops on time, however busy the machine is. A timeout of 0 would never expire. */
function silentFor(ms?: number): string {
  const until = ms === undefined ? '' : ` timeout ${Math.max(1, Math.round(ms))}ms`
  return [
    'add table ip silent',
    'add set ip silent protocols { type ether_type; flags timeout; }',
    'add chain ip silent everything { type filter hook prerouting priority raw; }',
    'flush chain ip silent everything',
    'add rule ip silent everything meta protocol @protocols drop',
    `add element ip silent protocols { ip${until} }`,
  ].join('; ')
}

/** Forwards the machines' connections to the API server, whose loopback address they cannot reach. */
async function openDoor({ dir, url, kubeconfig }: ControlPlane): Promise<{ kubeconfig: string; close: () => void }> {
  const [port = 0] = await freePorts(1)
  const { hostname, port: at } = new URL(url)
  const sockets = new Set<Socket>()
  const door = createServer((socket) => {
    const onward = connect(Number(at), hostname)
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one)
      one
        .on('error', () => other.destroy())
        .on('close', () => sockets.delete(one))
        .pipe(other)
    }
  })
  await new Promise<void>((resolve) => door.listen(port, cloudAddress, resolve))
  const close = () => {
    door.close()
    sockets.forEach((socket) => socket.destroy())
  }
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: Record<string, string> }[] }
  for (const { cluster } of config.clusters)
    Object.assign(cluster, { server: `https://${cloudAddress}:${port}`, 'tls-server-name': hostname })
  const file = join(dir, 'kube-proxy.kubeconfig')
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return { kubeconfig: file, close }
}

const periodMs = 20

/** Keeps the network's routes in line with the cloud's assignments. */
function follow(network: Network, routes: AssignedOptions['routes']): { stop: () => Promise<void> } {
  const routed = new Map<string, string | undefined>()
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      for (const [address, machine] of routes()) {
        if (routed.has(address) && routed.get(address) === machine) continue
        routed.set(address, machine)
        await network.route(address, machine)
      }
      await sleep(periodMs)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await loop
    },
  }
}

function startClient(network: Network, { url, intervalMs }: { url: string; intervalMs: number }): AskingClient {
  const answers: Answer[] = []
  const onLine = (line: string) => answers.push(JSON.parse(line) as Answer)
  const program = [process.execPath, join(import.meta.dirname, 'client.ts'), url, String(intervalMs)]
  const child = startChild(network.on('client', program), { onLine })
  return { answers: () => answers, stop: async () => void (await child.stop('SIGKILL')) }
}
