import { type Pool, makePool } from '../address-pool.ts'
import { parseRange, split } from '../ipv4.ts'

export type AddressSpace = {
  /** Returns the public addresses of a metro: reservations come from the low end, management blocks from the high end. */
  publicIn(metro: string): Pool
  global: Pool
  private: Pool
  /** Returns the prefix of a new IPv6 /56, which is four groups long. */
  nextIpv6(): string
}

/** Documentation addresses (RFC 5737). These come first, so most examples show them. */
const documentation = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24'].flatMap((text) =>
  split(parseRange(text), 27),
)
/** Benchmark addresses (RFC 2544), which are not routed either: four thousand more per metro. */
const benchmarking = split(parseRange('198.18.0.0/15'), 20)

/** Makes pools of unassigned addresses for every metro. */
export function makeAddressSpace(metros: string[]): AddressSpace {
  const global = benchmarking.at(-1)
  const pools = new Map(
    metros.map((metro, n) => [
      metro,
      makePool([documentation[n], benchmarking[n]].filter((range) => range !== undefined)),
    ]),
  )
  let ipv6Blocks = 0
  return {
    publicIn: (metro) => pools.get(metro) ?? makePool([]),
    global: makePool(global ? [global] : []),
    private: makePool([parseRange('10.64.0.0/12')]),
    nextIpv6() {
      ipv6Blocks += 1
      return `2001:db8:${ipv6Blocks.toString(16)}:fd00`
    },
  }
}
