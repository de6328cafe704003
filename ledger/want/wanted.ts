import type { Service } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { type ElasticIP, familyOf, heldAddress, isSecond, provisionedSourceOf } from '../record/elastic-ip.ts'
import { mayFindShown } from '../record/records.ts'
import { requestsTwo } from './families.ts'
import type { Want } from './want.ts'

/** Whether a Service wants the address that a record holds or waits for. In doubt it does, so that none is released. */
export function isWanted(record: ElasticIP, wanted: Want): boolean {
  switch (wanted.kind) {
    case 'nothing':
    case 'managed':
      return false
    // An address that the Service requests from another program must stay reserved for it.
    case 'foreign':
      return isUnboundAdoption(record) || wanted.requested.some(({ address }) => address === record.status?.address)
    case 'own':
      // The user wrote the address that the record already holds, so it stays the Service's.
      return wanted.doubt?.isDecided === false || record.status?.address === wanted.address
    case 'reserve':
      return (
        provisionedSourceOf(record) === undefined &&
        familyOf(record) === (isSecond(record) ? wanted.second?.family : wanted.family)
      )
    case 'named':
      return provisionedSourceOf(record) === wanted.elasticIP && !isSecond(record)
    case 'ignored':
    case 'wrong':
      return true
  }
}

/** Whether the record was adopted: an earlier program reserved the address, which the Service has not shown to us yet. */
function isUnboundAdoption({ spec }: ElasticIP): boolean {
  return spec.reservationID !== undefined && spec.source === undefined && spec.claimRef?.uid === undefined
}

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
