import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Log } from '../../kube/log.ts'
import type { Node, Service } from '../../kube/objects.ts'
import type { Reflector } from '../../kube/reflector.ts'
import { serviceCIDRs } from '../../kube/resource.ts'
import { type ClusterFamilies, isDualStack } from '../want/families.ts'
import { type IpAddress, canonicalIpAddress } from '../../lib/ip-address.ts'
import { rangeSet } from '../../lib/ip-range.ts'
import { recentRead } from '../../lib/recent-read.ts'

/** The networks inside this cluster: no Service may take their addresses from the cluster's own traffic. */
export type ClusterNetworks = {
  /** What an address is in this cluster, for a message; undefined for one from outside. */
  of(address: IpAddress): string | undefined
  /** The node that has an address, for a message. */
  nodeOf(address: IpAddress): string | undefined
  /** The families of its Services. */
  families(): ClusterFamilies
  /** Reads the Service ranges if that was long ago; never throws. */
  refresh(signal: AbortSignal): Promise<void>
}

export type ClusterNetworksOptions = {
  client: KubeClient
  /** Without the controllers, the cache of nodes is empty: the leader then checks the pod ranges. */
  caches: { nodes: Pick<Reflector<Node>, 'list' | 'onChange'>; services: Pick<Reflector<Service>, 'get' | 'list'> }
  log: Log
  now: () => number
}

const maxAgeMs = 600_000

/** The object with the ranges that the API server was started with. */
const defaultRanges = 'kubernetes'

/** The Service ranges that the API server tells, its own address in every version, and the nodes' pod ranges. */
export function clusterNetworks({ client, caches, log, now }: ClusterNetworksOptions): ClusterNetworks {
  let isServiceAddress = rangeSet([])
  let isDual: boolean | undefined
  const nodes = nodeNetworks(caches.nodes)
  const serviceRanges = recentRead({
    read: async (signal) => {
      const found = await listAll(client, serviceCIDRs, { signal }).catch(noneIfNotServed)
      isServiceAddress = rangeSet(found.flatMap(({ spec }) => spec?.cidrs ?? []))
      const cidrs = found.find(({ metadata }) => metadata.name === defaultRanges)?.spec?.cidrs
      isDual = cidrs && cidrs.length > 1
    },
    now,
  })
  return {
    of(address) {
      const { spec } = caches.services.get('default/kubernetes') ?? {}
      if (isServiceAddress(address) || [spec?.clusterIPs, spec?.clusterIP].flat().includes(address.text)) {
        return 'in a Service range'
      }
      return nodes.isPodAddress(address) ? 'in a pod range' : undefined
    },
    nodeOf: (address) => nodes.nodeOf(address),
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

/** The addresses of nodes and of their pods, worked out anew only after a node changed them. */
function nodeNetworks(nodes: ClusterNetworksOptions['caches']['nodes']) {
  let isPodAddress: ((address: IpAddress) => boolean) | undefined
  let names: ReadonlyMap<string, string> | undefined
  nodes.onChange((_key, current, previous) => {
    if (podRanges(current).join() !== podRanges(previous).join()) isPodAddress = undefined
    if (addressesOf(current).join() !== addressesOf(previous).join()) names = undefined
  })
  const named = (node: Node) => addressesOf(node).map((one) => [one, `node ${node.metadata.name}`] as const)
  return {
    isPodAddress(address: IpAddress): boolean {
      isPodAddress ??= rangeSet(nodes.list().flatMap(podRanges))
      return isPodAddress(address)
    },
    nodeOf(address: IpAddress): string | undefined {
      names ??= new Map(nodes.list().flatMap(named))
      return names.get(address.text)
    },
  }
}

function addressesOf(node: Node | undefined): string[] {
  return (node?.status?.addresses ?? []).flatMap(({ address }) => canonicalIpAddress(address) ?? [])
}

function podRanges(node: Node | undefined): string[] {
  const { podCIDRs, podCIDR } = node?.spec ?? {}
  return podCIDRs ?? (podCIDR === undefined ? [] : [podCIDR])
}

/** API servers before 1.33 do not serve them in this version. */
function noneIfNotServed(error: unknown): [] {
  if (isNotFound(error)) return []
  throw error
}
