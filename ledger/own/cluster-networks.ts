import type { KubeClient } from '../../kube/client.ts'
import { isNotFound, resultUnless } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Log } from '../../kube/log.ts'
import type { Node, Service } from '../../kube/objects.ts'
import type { Reflector } from '../../kube/reflector.ts'
import { serviceCIDRs } from '../../kube/resource.ts'
import { type ClusterFamilies, isDualStack } from '../want/families.ts'
import { type IpAddress, canonicalIpAddress, parseIpAddress, rangeSet } from '../../lib/ip-address.ts'
import { recentRead } from '../../lib/recent-read.ts'

/** The networks inside this cluster: a Service must not take their addresses away from the cluster's own traffic. */
export type ClusterNetworks = {
  /** The Service range that contains an address, for a message. */
  of(address: IpAddress): string | undefined
  /** The Node that claims an address as its own or its pods', for a message. */
  nodeClaim(address: IpAddress): string | undefined
  /** Calls the listener when a Node's claimed addresses change. */
  onChange(listener: () => void): void
  /** The families of its Services. */
  families(): ClusterFamilies
  /** Reads the Service ranges if the last read is too old; never throws. */
  refresh(signal: AbortSignal): Promise<void>
}

export type ClusterNetworksOptions = {
  client: KubeClient
  /** Without the controllers, the cache of nodes is empty: the leader then checks what Nodes claim. */
  caches: { nodes: Pick<Reflector<Node>, 'list' | 'onChange'>; services: Pick<Reflector<Service>, 'get' | 'list'> }
  log: Log
  now: () => number
}

const maxAgeMs = 600_000

/** The ServiceCIDR object with the ranges that the API server was started with. */
const defaultRanges = 'kubernetes'

/** The Service ranges that the API server publishes, its own address on any version, and the addresses that Nodes claim. */
export function clusterNetworks({ client, caches, log, now }: ClusterNetworksOptions): ClusterNetworks {
  let isServiceAddress = rangeSet([])
  let isDual: boolean | undefined
  const nodes = nodeClaims(caches.nodes)
  const serviceRanges = recentRead({
    read: async (signal) => {
      // API servers before 1.33 do not serve ServiceCIDRs in this version.
      const found = await resultUnless(isNotFound, listAll(client, serviceCIDRs, { signal }), [])
      isServiceAddress = rangeSet(found.flatMap(({ spec }) => spec?.cidrs ?? []))
      const cidrs = found.find(({ metadata }) => metadata.name === defaultRanges)?.spec?.cidrs
      isDual = cidrs && cidrs.length > 1
    },
    now,
  })
  return {
    of(address) {
      const { spec } = caches.services.get('default/kubernetes') ?? {}
      const isOfApiServer = [spec?.clusterIPs, spec?.clusterIP].flat().includes(address.text)
      return isServiceAddress(address) || isOfApiServer ? 'in a Service range' : undefined
    },
    nodeClaim: (address) => nodes.claim(address),
    onChange: (listener) => nodes.onChange(listener),
    families() {
      const { ipFamilies = [] } = caches.services.get('default/kubernetes')?.spec ?? {}
      return { primary: ipFamilies[0] ?? 'IPv4', isDual: isDual ?? isDualStack(caches.services.list()) }
    },
    async refresh(signal) {
      try {
        await serviceRanges.within(maxAgeMs, signal)
      } catch (error) {
        log.warn({ error }, 'cannot read the Service ranges of the cluster')
      }
    },
  }
}

/** The addresses that Nodes claim, recomputed only after one of them changes. */
function nodeClaims(nodes: ClusterNetworksOptions['caches']['nodes']) {
  let known: { addresses: ReadonlyMap<string, string>; pods: PodRange[] } | undefined
  const listeners: (() => void)[] = []
  nodes.onChange((_key, current, previous) => {
    if (claimText(current) === claimText(previous)) return
    known = undefined
    for (const listener of listeners) listener()
  })
  return {
    claim(address: IpAddress): string | undefined {
      known ??= {
        addresses: new Map(nodes.list().flatMap((node) => addressesOf(node).map((one) => [one, node.metadata.name]))),
        pods: nodes.list().flatMap(podRangesOf),
      }
      const node = known.addresses.get(address.text)
      if (node !== undefined) return `is assigned to node ${node}`
      const range = known.pods.find(({ contains }) => contains(address))
      return range && `is in a pod range of this cluster (node ${range.node})`
    },
    onChange: (listener: () => void) => void listeners.push(listener),
  }
}

function claimText(node: Node | undefined): string {
  return node ? [...addressesOf(node), '', ...podNetworksOf(node)].join() : ''
}

function addressesOf({ status }: Node): string[] {
  return (status?.addresses ?? []).flatMap(({ address }) => canonicalIpAddress(address) ?? [])
}

type PodRange = { node: string; contains: (address: IpAddress) => boolean }

function podRangesOf(node: Node): PodRange[] {
  return podNetworksOf(node).map((network) => ({ node: node.metadata.name, contains: rangeSet([network]) }))
}

/** The pod ranges of a node that are plausible: private, and not larger than one node's. A kubelet can write any other. */
function podNetworksOf({ spec }: Node): string[] {
  const { podCIDRs, podCIDR } = spec ?? {}
  return (podCIDRs ?? [podCIDR ?? '']).filter((network) => {
    const [text = '', length] = network.split('/')
    const address = parseIpAddress(text)
    return address !== undefined && isPrivate(address) && Number(length) >= shortestPrefix[address.family]
  })
}

const shortestPrefix = { ipv4: 16, ipv6: 48 }

const isPrivate = rangeSet(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'])
