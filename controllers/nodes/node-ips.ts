import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { Node } from '../../kube/objects.ts'

/** The value of the kubelet's --node-ip: one address, or one of each family. */
export const providedIps = 'alpha.kubernetes.io/provided-node-ip'

/** The addresses that the kubelet has to use, in its order; what is no address does not count. */
export function providedNodeIps({ metadata }: Node): string[] {
  const parts = (metadata.annotations?.[providedIps] ?? '').split(',').map((part) => part.trim())
  return parts.flatMap((part) => canonicalIpAddress(part) ?? [])
}
