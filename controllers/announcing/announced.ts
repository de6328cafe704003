import type { Announced } from '../../announcers/announcer.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type ElasticIP, heldAddress } from '../../ledger/record/elastic-ip.ts'
import type { Want } from '../../ledger/want/want.ts'

export type Shown = { service: Service; wanted: Want; record: ElasticIP | undefined }

/**
 * The address that the network is to know a Service by. None from the moment on that the Service leaves, and none that
 * the ledger does not hold for it: an address that is on its way back may be somebody else's tomorrow.
 */
export function announcedAddress({ service, wanted, record }: Shown): string | undefined {
  if (service.metadata.deletionTimestamp) return undefined
  switch (wanted.kind) {
    case 'own':
      return wanted.address
    // What is none of our business any more keeps what it has.
    case 'ignored':
    case 'reserve':
    case 'named':
    case 'wrong': {
      const held = record && heldAddress(record)
      return held === service.spec.loadBalancerIP ? held : undefined
    }
    case 'nothing':
      return undefined
  }
}

/** Every address that is to be announced, once, with the Services that show it. */
export function announcedAddresses(shown: Iterable<Shown>): Announced[] {
  const services = new Map<string, string[]>()
  for (const one of shown) {
    const address = announcedAddress(one)
    if (address === undefined) continue
    services.set(address, [...(services.get(address) ?? []), keyOf(one.service)])
  }
  return [...services].map(([address, keys]) => ({ address, services: keys }))
}
