import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { clusterOfOthers } from '../../../ledger/record/marks.ts'
import { usedAddresses } from '../../../ledger/want/address-users.ts'
import type { OwnAddressFacts } from '../../../ledger/want/own-address-rules.ts'
import { canonicalIpAddress, parseIpAddress } from '../../../lib/ip-address.ts'
import { isInRanges, rangeSet } from '../../../lib/ip-range.ts'
import type { Context } from '../../../inspect/facts.ts'
import { schemeOf } from '../../../inspect/wanted.ts'
import type { ServiceFacts } from './judged.ts'

/** What decides about own addresses, from what was read. */
export function ownFacts(
  { cluster, services, records, reservations }: ServiceFacts,
  context: Context,
): OwnAddressFacts {
  const { policy } = context.vendor
  const scheme = schemeOf(cluster, context)
  const of = (address: string) => reservations.find((one) => contains(one, address))
  return {
    // The predecessor announced it all the same, and a range of the cluster is found by `serve`.
    clusterNetwork: () => undefined,
    holder: (address) => of(address.text)?.holder,
    isInRanges: rangeSet(context.settings.cluster.ownAddressRanges),
    isReserved: (address) => of(address.text) !== undefined,
    marksOfOthers: (address) => {
      const marks = of(address.text)?.marks
      return marks && clusterOfOthers(scheme, marks) !== undefined ? marks : undefined
    },
    records: (address) => records.filter(({ status }) => canonicalIpAddress(status?.address ?? '') === address.text),
    users: (address) => services.filter((service) => usedAddresses(service, policy).includes(address)),
  }
}

/** Whether a reservation, which may be a network, has an address. */
export function contains({ address: first, prefixLength = 32 }: Reservation, address: string): boolean {
  const parsed = parseIpAddress(address)
  if (first === undefined || !parsed) return false
  return canonicalIpAddress(first) === parsed.text || isInRanges(parsed, [`${first}/${prefixLength}`])
}
