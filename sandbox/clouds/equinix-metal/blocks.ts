import type { Allocation } from '../address-pool.ts'
import { formatIpv4, netmask } from '../ipv4.ts'
import type { Block } from './state.ts'

/** An IPv4 block as the API shows it: the gateway is its first address, which in a /32 is the only one. */
export function blockOf({ range }: Pick<Allocation, 'range'>): Block {
  const network = formatIpv4(range.first)
  return { family: 4, network, netmask: netmask(range.cidr), cidr: range.cidr, gateway: network }
}

/** A project's IPv6 /56 in a metro. The vendor writes blocks in full, single addresses short. */
export function ipv6Block(prefix: string): Block {
  const network = [...prefix.split(':'), '0', '0', '0', '0'].map((group) => group.padStart(4, '0')).join(':')
  return { family: 6, network, netmask: 'ffff:ffff:ffff:ff00:0000:0000:0000:0000', cidr: 56, gateway: network }
}

/** The `n`th /127 of an IPv6 /56, and the address in it that the device gets. */
export function ipv6Link(block: Block, n: number): { block: Block; address: string } {
  const prefix = block.network
    .split(':')
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
  const network = `${prefix}::${(2 * n).toString(16)}`
  const mask = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe'
  return {
    block: { family: 6, network, netmask: mask, cidr: 127, gateway: network },
    address: `${prefix}::${(2 * n + 1).toString(16)}`,
  }
}
