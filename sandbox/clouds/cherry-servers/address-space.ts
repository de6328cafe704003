import { type Lease, type Pool, makePool } from '../address-pool.ts'
import { type Range, formatIpv4, parseRange, sizeOf, split } from '../ipv4.ts'
import { type Region, regions } from './regions.ts'

/** One address, in the subnet that it lies in. */
export type Host = { address: string; cidr: string; gateway?: string; vlan?: number; giveBack: () => void }

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
  const lans = makeLans()
  return {
    floating(region) {
      const lease = pools.get(region)?.floating.takeFirst(32)
      return lease && { address: first(lease), cidr: `${first(lease)}/32`, giveBack: lease.giveBack }
    },
    primary: (region) => pools.get(region)?.primary(),
    private: (region, project) => lans(`${region.slug} ${project}`),
  }
}

/** A private network for each name: VLANs of 253 servers, another one when the last is full. */
function makeLans(): (name: string) => Host | undefined {
  const space = pool(parseRange('10.160.0.0/11'))
  const lans = new Map<string, (() => Host | undefined)[]>()
  let vlan = 2000
  return (name) => {
    const known = lans.get(name) ?? []
    for (const take of known) {
      const host = take()
      if (host) return host
    }
    const lease = space.takeFirst(24)
    if (!lease) return undefined
    const lan = makeLan(lease, ++vlan)
    lans.set(name, [...known, lan])
    return lan()
  }
}

function makeLan({ range }: Lease, vlan: number): () => Host | undefined {
  const take = makeSubnets(pool(range), range.cidr)
  return () => {
    const host = take()
    return host && { address: host.address, cidr: host.cidr, vlan, giveBack: host.giveBack }
  }
}

/** Hands out the hosts of a pool's subnets: never the network itself, its gateway, or its broadcast address. */
function makeSubnets(of: Pool, cidr: number): () => Host | undefined {
  const size = sizeOf(cidr)
  return () => {
    for (;;) {
      const lease = of.takeFirst(32)
      if (!lease) return undefined
      const place = lease.range.first % size
      // What is no host is taken for good.
      if (place < 2 || place === size - 1) continue
      const network = lease.range.first - place
      const gateway = formatIpv4(network + 1)
      return { address: first(lease), cidr: `${formatIpv4(network)}/${cidr}`, gateway, giveBack: lease.giveBack }
    }
  }
}

function pool(...ranges: (Range | undefined)[]): Pool {
  return makePool(ranges.filter((range) => range !== undefined))
}

const first = ({ range }: Lease) => formatIpv4(range.first)
