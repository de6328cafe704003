import type { Announcements, Problem } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { isPool } from './resources.ts'

/** The class of Services that Cilium's BGP announces, beside Services without one. */
export const bgpClass = 'io.cilium/bgp-control-plane'

/** The classes of Services to which LB IPAM gives addresses. BGP announces none of the second one. */
const ciliumClasses = [bgpClass, 'io.cilium/l2-announcer']

/**
 * Why the first pool of a cluster would take addresses away. It wakes LB IPAM, which within a second removes what another
 * program wrote into the status of a Service that no pool serves. A pool that exists means that it is awake.
 */
export function wakingProblems(
  { addresses, foreign = [] }: Pick<Announcements, 'addresses' | 'foreign'>,
  existing: readonly KubeObject[],
): Problem[] {
  if (existing.some(isPool)) return []
  const endangered = foreign
    .filter(({ loadBalancerClass: name }) => name === undefined || ciliumClasses.includes(name))
    .map(({ service }) => service)
  if (endangered.length === 0) return []
  const others = endangered.length === 1 ? '' : ` and ${endangered.length - 1} more`
  const message =
    `nothing is written for Cilium yet: its first address pool makes Cilium remove the address that another program wrote ` +
    `into the status of Service ${endangered.toSorted()[0]}${others}. Give such Services the loadBalancerClass of their ` +
    'program. If Cilium may serve them, create a CiliumLoadBalancerIPPool with their addresses yourself'
  const services = new Set(addresses.flatMap((announced) => announced.services))
  return [...services].map((service) => ({ subject: { service }, message }))
}
