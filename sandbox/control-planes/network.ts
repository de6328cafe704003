import { writeFileSync } from 'node:fs'
import { isNamespaced } from '../rig/namespace.ts'
import { spawn } from 'node:child_process'

/** The router's address on every cable, and the address at which the rig serves the simulated cloud. */
const gateway = '169.254.1.1'
export const cloudAddress = '192.0.2.10'

/** A machine or a client on the network: its own network namespace, behind a cable to the router. */
export type Host = { name: string; addresses: string[] }

/** The vendor's network: this process's namespace is the router, and each host has a namespace of its own. */
export type Network = {
  attach(host: Host): Promise<void>
  /** Returns a command that runs the given one on a host; its process id is that of the program. */
  on(host: string, command: string[]): string[]
  /** Unplugs the cable of a host, or plugs it in again; the router drops what is sent to an unplugged host. */
  setLink(host: string, to: 'up' | 'down'): Promise<void>
  /** Routes an address, or a range such as 10.244.1.0/24, to a host; without a host the router drops what is sent to it. */
  route(address: string, host: string | undefined): Promise<void>
  /** The interface of the router to which a host is connected. */
  cableOf(host: string): string
  /** Gives the router one more address. */
  addRouterAddress(address: string): Promise<void>
  /** Adds an address to a host's loopback interface, or removes it. */
  setAlias(host: string, address: string, to: 'present' | 'absent'): Promise<void>
  /** Drops all packets between two hosts, in both directions, or stops doing so. */
  setPartition(one: string, other: string, to: 'cut' | 'whole'): Promise<void>
  remove(): Promise<void>
}

const cableOf = (host: string) => `to-${host}`
const rangeOf = (address: string) => (address.includes('/') ? address : `${address}/32`)

/** Makes the router; the caller attaches hosts and removes the network. There can be only one at a time. */
export async function createNetwork(): Promise<Network> {
  if (!isNamespaced())
    throw new Error('control planes need a network namespace of their own: see sandbox/rig/namespace.ts')
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
  await runIp([`addr add ${cloudAddress}/32 dev lo`])
  const hosts = new Map<string, Host>()
  const hostOf = (name: string): Host => {
    const host = hosts.get(name)
    if (!host) throw new Error(`no host is called ${name}`)
    return host
  }
  return {
    ...routerOf(hostOf),
    async attach(host) {
      hosts.set(host.name, host)
      await runIp(routerCommands(host))
      await runIp(hostCommands(host), host.name)
    },
    cableOf,
    addRouterAddress: (address) => runIp([`addr replace ${address}/32 dev lo`]),
    on: (host, command) => ['ip', 'netns', 'exec', hostOf(host).name, ...command],
    setAlias: (host, address, to) => runIp([`addr ${to === 'present' ? 'replace' : 'del'} ${address}/32 dev lo`], host),
    async remove() {
      const removals = [...hosts.keys()].flatMap((name) => [`link del ${cableOf(name)}`, `netns del ${name}`])
      await runIp([...removals, 'route flush type blackhole', `addr del ${cloudAddress}/32 dev lo`])
    },
  }
}

/** The rules of the router for packets between hosts. */
function routerOf(hostOf: (name: string) => Host): Pick<Network, 'setLink' | 'route' | 'setPartition'> {
  const unplugged = new Set<string>()
  const routes = new Map<string, string | undefined>()
  // The kernel forgets the routes of a cable that is unplugged, and would then tell senders that there is none.
  const routeCommand = (address: string, host: string | undefined) => {
    if (host === undefined || unplugged.has(host)) return `route replace blackhole ${rangeOf(address)}`
    const { addresses } = hostOf(host)
    // The router sends to the machine, which need not answer for the address.
    const via = addresses.includes(address) ? '' : `via ${addresses[0]} onlink `
    return `route replace ${rangeOf(address)} ${via}dev ${cableOf(host)}`
  }
  return {
    async setLink(name, to) {
      if (to === 'down') unplugged.add(name)
      else unplugged.delete(name)
      const led = [...routes].filter(([, host]) => host === name).map(([address]) => address)
      const changed = [...hostOf(name).addresses, ...led].map((address) => routeCommand(address, name))
      await runIp([`link set ${cableOf(name)} ${to}`, ...changed])
    },
    async route(address, host) {
      routes.set(address, host)
      await runIp([routeCommand(address, host)])
    },
    setPartition: (one, other, to) =>
      runIp(partitionCommands(hostOf(one), hostOf(other), to === 'cut' ? 'add' : 'del')),
  }
}

function routerCommands({ name, addresses }: Host): string[] {
  const cable = cableOf(name)
  return [
    `netns add ${name}`,
    `link add ${cable} type veth peer name uplink netns ${name}`,
    `link set ${cable} up`,
    `addr add ${gateway}/32 dev ${cable}`,
    ...addresses.map((address) => `route replace ${address}/32 dev ${cable}`),
  ]
}

function hostCommands({ addresses }: Host): string[] {
  const [source = ''] = addresses
  return [
    'link set lo up',
    'link set uplink up',
    ...addresses.map((address) => `addr add ${address}/32 dev uplink`),
    `route add ${gateway} dev uplink scope link src ${source}`,
    `route add default via ${gateway} src ${source}`,
  ]
}

/** The router makes the partition, because it drops silently. A host would notice that it lacks a route. */
function partitionCommands(one: Host, other: Host, verb: 'add' | 'del'): string[] {
  const pairs = one.addresses.flatMap((from) => other.addresses.map((to) => [from, to]))
  const bothWays = [...pairs, ...pairs.map(([from, to]) => [to, from])]
  return bothWays.map(([from, to]) => `rule ${verb} from ${from} to ${to} blackhole`)
}

/** Runs `ip` commands in one process, in a given network namespace or in this process's own; throws if one fails. */
async function runIp(commands: string[], namespace?: string): Promise<void> {
  const child = spawn('ip', [...(namespace === undefined ? [] : ['-n', namespace]), '-batch', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdin.end(`${commands.join('\n')}\n`)
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`ip, ${namespace ?? 'at the router'}: ${errors.trim()}`)
}
