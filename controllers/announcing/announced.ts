import type { Announced } from '../../announcers/announcer.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type ElasticIP, heldAddress } from '../../ledger/record/elastic-ip.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { isAnnounceable } from '../../ledger/want/own-address-rules.ts'
import { type Want, isWanted } from '../../ledger/want/want.ts'

/** A Service, what it wants, and the record of its address. */
export type ServiceState = { service: Service; wanted: Want; record: ElasticIP | undefined }

/**
 * The address under which the network should know a Service. A Service that is being deleted has none, and so has one
 * whose address the ledger does not hold for it: an address that is being released may belong to another user tomorrow.
 */
export function announcedAddress({ service, wanted, record }: ServiceState): string | undefined {
  if (service.metadata.deletionTimestamp) return undefined
  switch (wanted.kind) {
    case 'own':
      return isAnnounceable(service, wanted) ? wanted.address : undefined
    case 'foreign':
      return record && isWanted(record, wanted) ? heldIfShown(record, service) : undefined
    // A Service that we no longer manage keeps its address.
    case 'ignored':
    case 'reserve':
    case 'named':
    case 'wrong':
      return record && heldIfShown(record, service)
    case 'nothing':
      return undefined
  }
}

function heldIfShown(record: ElasticIP, { spec }: Service): string | undefined {
  const held = heldAddress(record)
  return held === spec.loadBalancerIP ? held : undefined
}

/** Every address to announce, once, with the Services that show it. */
export function announcedAddresses(states: Iterable<ServiceState>): Announced[] {
  const services = new Map<string, string[]>()
  for (const state of states) {
    const address = announcedAddress(state)
    if (address === undefined) continue
    services.set(address, [...(services.get(address) ?? []), keyOf(state.service)])
  }
  return [...services].map(([address, keys]) => ({ address, services: keys }))
}

/** Whether a Service says an address anywhere: no other can have it announced. Cheap, because it runs for all Services. */
export function mentionsAddress({ metadata, spec }: Service, address: string): boolean {
  const said = [spec.loadBalancerIP ?? '', ...Object.values(metadata.annotations ?? {})]
  // An IPv6 address has many texts.
  const texts = address.includes(':') ? said.map((text) => canonicalIpAddress(text) ?? text) : said
  return texts.includes(canonicalIpAddress(address) ?? address)
}
