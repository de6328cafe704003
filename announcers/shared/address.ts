import { type IpAddress, type IpFamily, isIpv4Mapped, parseIpAddress } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import type { Announced, Problem } from '../announcer.ts'
import { compareTexts, distinct, distinctProblems } from './order.ts'

/** The address that a text holds; undefined for one that programs may read as either IPv4 or IPv6. */
export function parseAddress(text: string): IpAddress | undefined {
  const address = parseIpAddress(text)
  return address && isIpv4Mapped(address) ? undefined : address
}

/** The prefix that holds this address and no other: announcing software accepts no bare address. */
export function prefixOf({ text, family }: IpAddress): string {
  return family === 'ipv4' ? `${text}/32` : `${text}/128`
}

/** The address as a part of the name of an object; different addresses give different parts. */
export function nameOf({ text }: IpAddress): string {
  const padded = text.replace(/^::/, '0::').replace(/::$/, '::0')
  return padded.replaceAll(':', '-')
}

/** An address and the Services that show it, sorted and without duplicates. */
export type ShownAddress = { address: IpAddress; services: string[] }

/** The Services that show any of the addresses, as subjects. */
export function servicesOf(shown: readonly Pick<ShownAddress, 'services'>[]): { service: string }[] {
  return shown.flatMap(({ services }) => services.map((service) => ({ service })))
}

/** A problem of every Service that shows any of the addresses. */
export function problemsOf(shown: readonly Pick<ShownAddress, 'services'>[], message: string): Problem[] {
  return servicesOf(shown).map((subject) => ({ subject, message }))
}

/** The families that the software can announce, and why it cannot announce another address. */
type Announceable = {
  families: readonly IpFamily[]
  refusal: (text: string, address: IpAddress | undefined) => string
}

/**
 * Every address of a state that the software can announce, sorted and without duplicates, and problems for the others.
 */
export function announceableAddresses(
  announced: readonly Announced[],
  { families, refusal }: Announceable,
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
    problems.push(...problemsOf([{ services }], refusal(text, address)))
  }
  const ordered = [...shown].toSorted(([one], [other]) => compareTexts(one, other))
  return { shown: ordered.map(([, one]) => one), problems: distinctProblems(problems) }
}

/** The same for IPv4 addresses that Services show, for software from which we request no others. */
export function announceableIpv4(announced: readonly Announced[], software: string) {
  const refusal = (text: string) =>
    `${quote(text)} is not an IPv4 address, and eip-admission has ${software} announce no other`
  const { shown, problems } = announceableAddresses(announced, { families: ['ipv4'], refusal })
  return { shown: shown.filter(({ services }) => services.length > 0), problems }
}
