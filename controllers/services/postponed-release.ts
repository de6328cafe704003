// What software means for an address that withdraws it only when the Service is deleted (announcer.ts). The first row that
// applies decides about a step that releases the address.
//
//   the Service                            | the record                      | plan
//   ---------------------------------------+---------------------------------+---------------------------
//   does not exist, or never had it stored |                                 | release
//   wants the address                      |                                 | release, which ends as kept
//   any other                              | its deletion was requested      | release
//   any other                              | is Releasing                    | -, until the Service is gone
//   any other                              |                                 | postpone-release
import type { Service } from '../../kube/objects.ts'
import { type ElasticIP, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { isWanted } from '../../ledger/want/want.ts'
import { type Seen, hasFinalizer } from './service-state.ts'
import { type ServicePlan, settled } from './service-step.ts'

/** The plan in which no address is released that the announcing software goes on to announce. */
export function postponeUntilDeletion(plan: ServicePlan, seen: Omit<Seen, 'announcement'>): ServicePlan {
  const { step } = plan
  if (step?.do !== 'release' || !isReleasePostponed(seen, step.record)) return plan
  return phaseOf(step.record) === 'Releasing' ? settled : { step: { do: 'postpone-release', record: step.record } }
}

/** Whether the software goes on to announce the address of a record, although its Service no longer wants it. */
export function isReleasePostponed(
  { announcer, service, wanted }: Pick<Seen, 'announcer' | 'service' | 'wanted'>,
  record: ElasticIP,
): boolean {
  const { address, deletionRequestedAt } = record.status ?? {}
  if (!announcer.withdrawsOnlyOnDeletion || !service || !wanted) return false
  if (address === undefined || deletionRequestedAt !== undefined || !mayBeAnnounced(service, record)) return false
  return service.metadata.deletionTimestamp !== undefined || !isWanted(record, wanted)
}

/** Whether this very Service was stored with the address: software announces what is stored, bound by us or not. */
function mayBeAnnounced(service: Service, { spec: { claimRef } }: ElasticIP): boolean {
  const { uid, deletionTimestamp } = service.metadata
  if (claimRef?.uid !== undefined) return claimRef.uid === uid
  return hasFinalizer(service) || deletionTimestamp !== undefined
}
