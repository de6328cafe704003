import type { Announced, Problem } from '../announcer.ts'
import type { IpAddress, IpFamily } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import { parseAddress } from '../shared/address.ts'
import { distinct, distinctProblems, compareTexts } from '../shared/order.ts'

/** An address that MetalLB can announce, and the Services that show it, each once and in order. */
export type ShownAddress = { address: IpAddress; services: string[] }

/** Every address of a state that MetalLB can announce, once and in order, and why it cannot announce the others. */
export function announceableAddresses(
  announced: readonly Announced[],
  families: readonly IpFamily[],
): { shown: ShownAddress[]; problems: Problem[] } {
  const shown = new Map<string, ShownAddress>()
  const problems: Problem[] = []
  for (const { address: text, services } of announced) {
    const address = parseAddress(text)
    if (address && families.includes(address.family)) {
      const known = shown.get(address.text)?.services ?? []
      shown.set(address.text, { address, services: distinct([...known, ...services]) })
      continue
    }
    const message = address
      ? `address ${address.text} is IPv6, which MetalLB announces over BGP only in FRR mode; set bgp-peer-mode=frr in the load balancer setting`
      : `${quote(text)} is not an IP address that MetalLB can announce`
    problems.push(...services.map((service) => ({ subject: { service }, message })))
  }
  const ordered = [...shown].toSorted(([one], [other]) => compareTexts(one, other))
  return { shown: ordered.map(([, one]) => one), problems: distinctProblems(problems) }
}
