import type { Announced, Problem } from '../announcer.ts'
import type { IpAddress, IpFamily } from '../../lib/ip-address.ts'
import { parseAddress } from './address.ts'
import { distinct, distinctProblems, inOrder } from './order.ts'

/** An address that can be announced, and the Services that show it, each once and in order. */
export type Shown = { address: IpAddress; services: string[] }

/** Every address of a state that MetalLB can announce, once and in order, and what is wrong with the others. */
export function announceable(
  announced: readonly Announced[],
  families: readonly IpFamily[],
): { shown: Shown[]; problems: Problem[] } {
  const shown = new Map<string, Shown>()
  const problems: Problem[] = []
  for (const { address: text, services } of announced) {
    const address = parseAddress(text)
    if (address && families.includes(address.family)) {
      const known = shown.get(address.text)?.services ?? []
      shown.set(address.text, { address, services: distinct([...known, ...services]) })
      continue
    }
    const message = address
      ? `${address.text} is IPv6, which MetalLB announces over BGP only by FRR (bgp-peer-mode=frr)`
      : `${JSON.stringify(text)} is not an address`
    problems.push(...services.map((service) => ({ concern: { service }, message })))
  }
  const inTheirOrder = [...shown].toSorted(([one], [other]) => inOrder(one, other))
  return { shown: inTheirOrder.map(([, one]) => one), problems: distinctProblems(problems) }
}
