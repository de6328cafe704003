import type { Service } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { shownAddresses } from '../../ledger/record/shown.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'

/** Finds the records of the addresses that a Service showed before a change of it, and shows no longer. */
export function recordsOfFreedAddresses(
  list: () => ElasticIP[],
  requestAnnotations: readonly string[],
): (current: Service | undefined, previous: Service | undefined) => ElasticIP[] {
  const addressesOf = (service: Service | undefined) =>
    new Set(service ? shownAddresses(service, requestAnnotations).map(({ address }) => address) : [])
  return (current, previous) => {
    const freed = addressesOf(previous).difference(addressesOf(current))
    if (freed.size === 0) return []
    return list().filter(({ status }) => freed.has(canonicalIpAddress(status?.address ?? '') ?? ''))
  }
}
