import { type Allocation, type Pool, makePool } from '../address-pool.ts'
import { type Range, formatIpv4, parseRange, sizeOf, split } from '../ipv4.ts'
import { type Region, regions } from './regions.ts'

/** An address, with the subnet that contains it. */
export type Host = { address: string; cidr: string; gateway?: string; vlan?: number; free: () => void }

export type AddressSpace = {
  /** Allocates a floating IP, which is a subnet of its own; undefined when none is left. */
  floating(region: Region): Host | undefined
  /** Allocates an address in a subnet that servers share, with a gateway. */
  primary(region: Region): Host | undefined
  /** Allocates an address in a VLAN of the project. */
  private(region: Region, project: number): Host | undefined
}

/** Documentation addresses (RFC 5737). These come first, so most examples show them. */
const documentation = split(parseRange('203.0.113.0/24'), 27)
/** Benchmark addresses (RFC 2544), which are not routed either: four thousand more of each kind per region. */
const benchmarking = split(parseRange('198.18.0.0/15'), 20)

/** Makes pools of unassigned addresses for every region. */
export function makeAddressSpace(): AddressSpace {
  const pools = new Map(
    regions.map((region, n) => [
      region,
      { floating: pool(documentation[n], benchmarking[n]), primary: makeSubnets(pool(benchmarking[16 + n]), 26) },
    ]),
  )
  const privateNetworks = makePrivateNetworks()
  return {
    floating(region) {
      const allocation = pools.get(region)?.floating.allocateFirst(32)
      return allocation && { address: first(allocation), cidr: `${first(allocation)}/32`, free: allocation.free }
    },
    primary: (region) => pools.get(region)?.primary(),
    private: (region, project) => privateNetworks(`${region.slug} ${project}`),
  }
}

/** Makes a private network for each name: a VLAN for 253 servers, and another one when the last is full. */
function makePrivateNetworks(): (name: string) => Host | undefined {
  const space = pool(parseRange('10.160.0.0/11'))
  const privateNetworks = new Map<string, (() => Host | undefined)[]>()
  let vlan = 2000
  return (name) => {
    const known = privateNetworks.get(name) ?? []
    for (const allocate of known) {
      const host = allocate()
      if (host) return host
    }
    const allocation = space.allocateFirst(24)
    if (!allocation) return undefined
    const lan = makePrivateNetwork(allocation, ++vlan)
    privateNetworks.set(name, [...known, lan])
    return lan()
  }
}

function makePrivateNetwork({ range }: Allocation, vlan: number): () => Host | undefined {
  const allocate = makeSubnets(pool(range), range.cidr)
  return () => {
    const host = allocate()
    return host && { address: host.address, cidr: host.cidr, vlan, free: host.free }
  }
}

/** Allocates host addresses in a pool's subnets: never the network address, the gateway or the broadcast address. */
function makeSubnets(of: Pool, cidr: number): () => Host | undefined {
  const size = sizeOf(cidr)
  return () => {
    for (;;) {
      const allocation = of.allocateFirst(32)
      if (!allocation) return undefined
      const place = allocation.range.first % size
      // The network, gateway and broadcast addresses stay allocated.
      if (place < 2 || place === size - 1) continue
      const network = allocation.range.first - place
      const gateway = formatIpv4(network + 1)
      return { address: first(allocation), cidr: `${formatIpv4(network)}/${cidr}`, gateway, free: allocation.free }
    }
  }
}

function pool(...ranges: (Range | undefined)[]): Pool {
  return makePool(ranges.filter((range) => range !== undefined))
}

const first = ({ range }: Allocation) => formatIpv4(range.first)
