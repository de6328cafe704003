import type { Allocation } from '../address-pool.ts'
import { formatIpv4, netmask } from '../ipv4.ts'
import type { Block } from './state.ts'

/** Returns an IPv4 block as the API shows it. The gateway is its first address, even in a /32. */
export function blockOf({ range }: Pick<Allocation, 'range'>): Block {
  const network = formatIpv4(range.first)
  return { family: 4, network, netmask: netmask(range.cidr), cidr: range.cidr, gateway: network }
}

/** Returns the IPv6 /56 of a project in a metro. The vendor writes blocks in full and single addresses short. */
export function ipv6Block(prefix: string): Block {
  const network = [...prefix.split(':'), '0', '0', '0', '0'].map((group) => group.padStart(4, '0')).join(':')
  return { family: 6, network, netmask: 'ffff:ffff:ffff:ff00:0000:0000:0000:0000', cidr: 56, gateway: network }
}

/** Returns the `n`th /127 of an IPv6 /56, and the device's address in it. */
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
