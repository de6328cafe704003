import type { Service } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { type ElasticIP, familyOf, heldAddress } from '../record/elastic-ip.ts'
import { mayFindShown } from '../record/records.ts'
import { requestsTwo } from './families.ts'
import { type Want, isWanted } from './want.ts'

/** A Service, what it wants, and the record of its first address. */
type Live = { service: Service; wanted: Want; first: ElasticIP | undefined }

/** Whether a Service wants the second address that a record holds or waits for. In doubt it does, as for the first one. */
export function isSecondWanted(record: ElasticIP, live: Live): boolean {
  return isWanted(record, live.wanted) || isFirstUnshown(live) || isKeptFromSetting(record, live)
}

/**
 * Whether only the load balancer setting denies a Service its second address, while the Service still requests two. A
 * changed setting releases nothing. A lost address is not kept: nothing would claim another one.
 */
function isKeptFromSetting(record: ElasticIP, { service, wanted }: Live): boolean {
  const givesOne = wanted.kind === 'reserve' && wanted.second === undefined && requestsTwo(service)
  const isOfService = record.spec.claimRef?.uid === service.metadata.uid
  return givesOne && isOfService && (record.status?.address !== undefined || mayFindShown(record))
}

/**
 * Whether a Service no longer marks its first address as ours, as after a PUT that no review completed. Its record
 * holds the address, and the plan of the first address shows it again. Until then nothing is decided about the second.
 */
export function isFirstUnshown({ service, wanted, first }: Live): boolean {
  const held = first && heldAddress(first)
  if (!first || held === undefined) return false
  if (wanted.kind === 'own') return wanted.address === canonicalIpAddress(held)
  // It may be left over from an earlier Service of the name: that one is released, whatever is shown.
  const isOfService = first.spec.claimRef?.uid === service.metadata.uid
  return wanted.kind === 'reserve' && wanted.second !== undefined && isOfService && familyOf(first) !== wanted.family
}
