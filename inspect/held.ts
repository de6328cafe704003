import type { Service } from '../kube/objects.ts'
import { type IpAddress, parseIpAddress } from '../lib/ip-address.ts'
import { type ElasticIP, heldAddress } from '../ledger/record/elastic-ip.ts'
import type { Context } from './facts.ts'
import { isOf, isOverdue } from './wanted.ts'

export type Held = { service: Service; address: IpAddress; text: string }

/** Addresses that Services hold for so long that they should be announced. */
export function heldByServices(services: readonly Service[], records: readonly ElasticIP[], context: Context): Held[] {
  return services.flatMap((service) => {
    if (!isOverdue(service.metadata, context)) return []
    return records
      .filter((one) => isOf(one, service))
      .flatMap((record) => {
        const text = heldAddress(record)
        const address = parseIpAddress(text ?? '')
        return address && text !== undefined ? [{ service, address, text }] : []
      })
  })
}
