import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { Service } from '../../kube/objects.ts'
import { AddressInUse, type AddressUser, type PossibleUsers, findUsers } from '../record/address-use.ts'
import { claimKey, type ElasticIP } from '../record/elastic-ip.ts'
import { namedCluster, wasUnmarked } from '../record/marks.ts'
import { transferAnnotation } from '../record/names.ts'
import { hasSource, isSource, mayBeOperators } from '../record/source.ts'
import { type WhoseRules, foreignReasonOf } from '../record/whose.ts'
import { canPassOn } from './heir.ts'

/** A record that is being released, and the result of a live look at its reservation. */
export type DeletionSeen = {
  record: ElasticIP
  reservationID: string
  /** The reservation at the provider; undefined if it has none. */
  found: Reservation | undefined
  all: PossibleUsers
  /** The Service that gets the record if it may pass to another one. */
  heir?: Service | undefined
}

export type DeletionPlan =
  | { do: 'delete' }
  /** Another Service of its namespace uses the address: the record passes to that one. */
  | { do: 'pass-on'; heir: Service; found: Reservation }
  /** Only the record is deleted. `endsAdoption`: removes our marks from the reservation. */
  | { do: 'keep'; reason: string; endsAdoption?: boolean }
  /** Both stay until the address is unused. */
  | { do: 'wait'; error: AddressInUse }

/**
 * The fate of the reservation of a record that is being released. Pure. The first row that applies decides.
 *
 * | the reservation                                       | and                                     | plan                    |
 * | ----------------------------------------------------- | --------------------------------------- | ----------------------- |
 * | is gone                                               | an earlier deletion lost its answer     | `delete`, which ends it |
 * | is the record's, or by its marks already the heir's   | there is an heir, as heir.ts says       | `pass-on`               |
 * | is not the record's, as whose.ts says                 | the sweep finds what has our marks      | `keep`                  |
 * | is an operator's: provisioned to stay, or transferred |                                         | `keep`                  |
 * | is used                                               | only records hold it, of the same one,  | `keep`: theirs          |
 * |                                                       | and their Services show it              |                         |
 * | is used                                               |                                         | `wait`                  |
 * | is named by a provisioned ElasticIP that waits for it |                                         | `keep`                  |
 * | had no marks when it was adopted                      | nobody allowed to delete such           | `keep`, without ours    |
 * | any other                                             |                                         | `delete`                |
 */
export function planDeletion(seen: DeletionSeen, deps: WhoseRules): DeletionPlan {
  const { record, reservationID, found, all } = seen
  // A Service that still shows the address has it from another reservation.
  if (!found && record.status?.deletionRequestedAt !== undefined) return { do: 'delete' }
  const { heir } = seen
  if (heir && found && canPassOn(deps, { record, heir, found })) return { do: 'pass-on', heir, found }
  const foreign = foreignReason(deps, seen)
  if (foreign !== undefined) return { do: 'keep', reason: foreign }
  const used = { address: record.status?.address ?? found?.address, reservationID }
  const users = findUsers(used, all, {
    ...(isSource(record) ? {} : { service: claimKey(record), isRelease: true }),
    records: [record.metadata.name],
  })
  if (users.length > 0) {
    // Two records may name one reservation, from a backup for instance. The one that holds it releases it some day.
    const theirs = users.filter((user) => isIndependentRecord(user, seen))
    const owners = new Set(theirs.map(({ record: other }) => other && claimKey(other)))
    const [holder] = theirs
    return holder && users.every((user) => theirs.includes(user) || owners.has(user.key))
      ? { do: 'keep', reason: `${holder.key} holds it` }
      : { do: 'wait', error: new AddressInUse(used, users) }
  }
  const provisioned = provisionedFor(seen)
  if (provisioned) return { do: 'keep', reason: `ElasticIP ${provisioned.metadata.name} names it` }
  if (!found || isSource(record) || deps.sweepsUntagged || !wasUnmarked(deps.scheme, found.marks))
    return { do: 'delete' }
  // It may be another cluster's, so it names no cluster again.
  return { do: 'keep', reason: adoptedReason, endsAdoption: namedCluster(deps.scheme, found.marks) === 'ours' }
}

const adoptedReason =
  "it named no cluster when it was adopted, and may be another cluster's; --sweep-untagged deletes such"

function foreignReason(rules: WhoseRules, { record, found }: DeletionSeen): string | undefined {
  const text = found && foreignReasonOf(rules, record, found)
  if (text !== undefined || !mayBeOperators(record)) return text
  const lacksOurs = namedCluster(rules.scheme, found?.marks ?? {}) !== 'ours'
  // Our marks only make the other cluster ignore it; it still belongs to the operator.
  const isTransferred = record.metadata.annotations?.[transferAnnotation] !== undefined
  return lacksOurs || isTransferred ? 'an operator provisioned it' : undefined
}

function isIndependentRecord({ record: other }: AddressUser, { record, reservationID }: DeletionSeen): boolean {
  return other !== undefined && other.status?.reservationID === reservationID && !hasSource(other, record)
}

/** The provisioned ElasticIP that an operator wrote for the reservation, and that waits for the deletion of this record. */
function provisionedFor({ record, reservationID, all }: DeletionSeen): ElasticIP | undefined {
  return all.records.find(
    (other) =>
      other.metadata.name !== record.metadata.name &&
      other.spec.reservationID === reservationID &&
      isSource(other) &&
      other.metadata.deletionTimestamp === undefined,
  )
}
