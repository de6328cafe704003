import { type Allocation, type Pool, makePool } from '../address-pool.ts'
import { type Range, formatIpv4, parseRange, sizeOf, split } from '../ipv4.ts'
import { type Region, regions } from './regions.ts'

/** One address, in the subnet that it lies in. */
export type Host = { address: string; cidr: string; gateway?: string; vlan?: number; free: () => void }

export type AddressSpace = {
  /** Each is a subnet by itself. Undefined where none is left. */
  floating(region: Region): Host | undefined
  /** In a subnet that servers share, with a gateway. */
  primary(region: Region): Host | undefined
  /** In a VLAN of the project. */
  private(region: Region, project: number): Host | undefined
}

/** For documentation (RFC 5737): the addresses that people see first. */
const documentation = split(parseRange('203.0.113.0/24'), 27)
/** For benchmarks (RFC 2544), as routable as those: room for four thousand more of each kind in each region. */
const benchmarking = split(parseRange('198.18.0.0/15'), 20)

/** Addresses for every region, none of which belongs to anybody. */
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

/** A private network for each name: VLANs of 253 servers, another one when the last is full. */
function makePrivateNetworks(): (name: string) => Host | undefined {
  const space = pool(parseRange('10.160.0.0/11'))
  const privateNetworks = new Map<string, (() => Host | undefined)[]>()
  let vlan = 2000
  return (name) => {
    const known = privateNetworks.get(name) ?? []
    for (const take of known) {
      const host = take()
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
  const take = makeSubnets(pool(range), range.cidr)
  return () => {
    const host = take()
    return host && { address: host.address, cidr: host.cidr, vlan, free: host.free }
  }
}

/** Hands out the hosts of a pool's subnets: never the network itself, its gateway, or its broadcast address. */
function makeSubnets(of: Pool, cidr: number): () => Host | undefined {
  const size = sizeOf(cidr)
  return () => {
    for (;;) {
      const allocation = of.allocateFirst(32)
      if (!allocation) return undefined
      const place = allocation.range.first % size
      // What is no host is taken for good.
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
