import { SocketAddress, isIP } from 'node:net'
import type { Node } from '../../kube/objects.ts'

/** What the kubelet was told with --node-ip: one address, or one of each family. */
export const providedIps = 'alpha.kubernetes.io/provided-node-ip'

/** The addresses that the kubelet was told to use, in its order; what is no address does not count. */
export function providedNodeIps({ metadata }: Node): string[] {
  const parts = (metadata.annotations?.[providedIps] ?? '').split(',').map((part) => part.trim())
  return parts.filter((part) => isIP(part) !== 0).map(canonicalIp)
}

/** The one spelling of an address by which two can be compared. */
export function canonicalIp(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address
}

/** `0.0.0.0` and `::` name no address, only a family. */
export function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}
