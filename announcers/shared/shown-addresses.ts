import type { IpAddress } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import type { Announced, Problem } from '../announcer.ts'
import { parseAddress } from './address.ts'
import { compareTexts, distinct } from './order.ts'

/** An address, and the Services that show it, each once and in order. */
export type ShownAddress = { address: IpAddress; services: string[] }

/** Every address that Services show and the cloud's routers can learn, and why the others cannot be announced. */
export function shownAddresses(
  announced: readonly Announced[],
  software: string,
): { shown: ShownAddress[]; problems: Problem[] } {
  const shown = new Map<string, ShownAddress>()
  const problems: Problem[] = []
  for (const { address: text, services } of announced) {
    const address = parseAddress(text)
    if (address?.family === 'ipv4') {
      const known = shown.get(address.text)?.services ?? []
      if (services.length > 0) shown.set(address.text, { address, services: distinct([...known, ...services]) })
      continue
    }
    const message = `${quote(text)} is not an IPv4 address, and eip-admission has ${software} announce no other`
    problems.push(...services.map((service) => ({ subject: { service }, message })))
  }
  const ordered = [...shown].toSorted(([one], [other]) => compareTexts(one, other))
  return { shown: ordered.map(([, one]) => one), problems }
}
