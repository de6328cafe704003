// A cloud's network that leads an address to the machine to which the cloud assigns it. Each machine has a network of its
// own, a real kube-proxy and a pod, and no interface with the address. Clients are elsewhere.
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
  /** The machine gives no answer for so long. It is silent: no router tells senders that there is no way. */
  silence: (name: string, ms: number) => Promise<void>
  /** The machine loses its power: it is silent, and what ran there ends. */
  gone: (name: string) => Promise<void>
  /** Asks a URL again and again from outside of the cluster. */
  client: (url: string, intervalMs?: number) => AskingClient
  stop: () => Promise<void>
}

export type AssignedOptions = {
  controlPlane: ControlPlane
  mode: ProxyMode
  /** Where the cloud leads its addresses now: the name of a machine of this rig for each address. */
  routes: () => ReadonlyMap<string, string | undefined>
}

/** Makes the network, whose routes follow those of the cloud; there can be only one at a time. */
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

/** The machines, of which there is none yet. */
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
      // As a network of pods does on each node.
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

/** Drops every packet. The kernel ends that at its time, however busy the machine is; a timeout of 0 would never end. */
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

/** Machines cannot reach the loopback address of the API server: this passes their connections on. */
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

/** Keeps the routes of the network as the cloud has them. */
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
