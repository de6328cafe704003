import type { HeldAddress } from '../announcers/check.ts'
import { type Service, keyOf } from '../kube/objects.ts'
import { type IpAddress, canonicalIpAddress, parseIpAddress, isInRanges } from '../lib/ip-address.ts'
import { type ElasticIP, claimKey, heldAddress, phaseOf } from '../ledger/record/elastic-ip.ts'
import type { MarkScheme, Reservation } from '../clouds/ports/cloud.ts'
import { type OwnAddressFacts, usedAddresses } from '../ledger/want/own-address-rules.ts'
import { type Want, want } from '../ledger/want/want.ts'
import type { Context, Values } from './facts.ts'

/** The want of a Service, as `serve` decides it; the provider's locations do not matter here. */
export function wantOf(service: Service, { vendor }: Context): Want {
  return want(service, vendor.policy, undefined)
}

/** How the reservations of this cluster are marked. */
export function schemeOf({ id }: Values['cluster'], { vendor }: Context): MarkScheme {
  return { ...vendor.marks, cluster: id }
}

/** The records that hold an address, in canonical text. Those that are released do not. */
export function holdersOf(address: string, records: readonly ElasticIP[]): ElasticIP[] {
  return records.filter(
    (record) => phaseOf(record) !== 'Releasing' && canonicalIpAddress(record.status?.address ?? '') === address,
  )
}

/** Whether a reservation, which may be a network, has an address. */
export function covers({ address: first, prefixLength = 32 }: Reservation, address: string): boolean {
  const parsed = parseIpAddress(address)
  if (first === undefined || !parsed) return false
  return canonicalIpAddress(first) === parsed.text || isInRanges(parsed, [`${first}/${prefixLength}`])
}

/** Whether a record belongs to this Service. */
export function isOf(record: ElasticIP, service: Service): boolean {
  return claimKey(record) === keyOf(service)
}

/** The facts that decide about user-chosen addresses, as far as a command can read them. */
export function ownAddressFacts(
  { services, records, reservations, cluster }: Pick<Values, 'services' | 'records' | 'reservations' | 'cluster'>,
  context: Context,
): OwnAddressFacts {
  const { settings, vendor } = context
  const covering = ({ text }: IpAddress) => reservations.find((one) => covers(one, text))
  return {
    // Only `serve` checks the cluster's ranges and the nodes' claims.
    clusterNetwork: () => undefined,
    nodeClaim: () => undefined,
    isInRanges: (address) => isInRanges(address, settings.cluster.ownAddressRanges),
    isReserved: (address) => covering(address) !== undefined,
    reservation: covering,
    scheme: schemeOf(cluster, context),
    // This includes records that are being released, as in `serve`.
    records: ({ text }) => records.filter(({ status }) => canonicalIpAddress(status?.address ?? '') === text),
    users: (address) => services.filter((service) => usedAddresses(service, vendor.policy).includes(address)),
  }
}

/** Whether an object is so old that its work should already be done. */
export function isOverdue({ creationTimestamp }: { creationTimestamp?: string }, { now }: Context): boolean {
  return now.getTime() - Date.parse(creationTimestamp ?? '') > overdueMs
}

const overdueMs = 300_000

/** Addresses that Services have held for so long that they should be announced. */
export function heldByServices(
  services: readonly Service[],
  records: readonly ElasticIP[],
  context: Context,
): HeldAddress[] {
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
