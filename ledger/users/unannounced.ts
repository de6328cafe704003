import type { Service } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import { statusAddresses } from '../want/address-users.ts'

type Shown = Pick<Service, 'status'> & { metadata?: Service['metadata'] }

/** Whether a Service shows an address in its status, where announcing software writes what it has taken. */
export function showsAddress(service: Shown | undefined, address: string | undefined): boolean {
  const wanted = canonicalIpAddress(address ?? '')
  return service !== undefined && wanted !== undefined && statusAddresses(service).includes(wanted)
}

/** The records whose Service exists and does not show its address: nobody announces it. */
export function unannounced(records: readonly ElasticIP[], service: (key: string) => Shown | undefined): ElasticIP[] {
  return records.filter((record) => {
    const found = service(claimKey(record) ?? '')
    const isHeld = phaseOf(record) === 'Bound' && record.status?.address !== undefined
    return isHeld && found && !found.metadata?.deletionTimestamp && !showsAddress(found, record.status?.address)
  })
}
