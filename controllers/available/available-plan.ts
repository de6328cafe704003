// An available address (the source) and the record that claimed it. The first row that applies decides.
//
//   the source                      | and                                                | step
//   --------------------------------+----------------------------------------------------+--------------
//   does not exist                  | a record still names it as its warm source         | clear-source
//   is not an available address     |                                                    | -
//   of which no deletion was sent   | a record holds its reservation, and it names no    | restore-claim
//                                   | claim, or is Releasing                             |
//   Releasing                       |                                                    | release
//   claimed, provisioned no longer  | its record is another one now                      | provision
//   claimed                         | its record is deleted or has another address       | reclaim
//   claimed, not provisioned yet    | its record waits for the address                   | provision
//   claimed, warm                   | its record holds the reservation, or one while the | transfer
//                                   | source's status is empty                           |
//   claimed, provisioned            | its record is Bound and the source is not          | bind
//   claimed                         | otherwise                                          | -
//   unclaimed                       | a record has the address of an older warm source   | clear-source
//   unclaimed, Bound                |                                                    | reclaim
//   unclaimed, being deleted        | it is warm or reserved                             | release
//   unclaimed, being deleted        | otherwise                                          | remove
//   unclaimed, no address yet       | it is warm                                         | reserve
//   unclaimed, no address yet       | otherwise                                          | provision
//   none of these, with an address  | it has no finalizer of ours                        | add-finalizer
//   none of these, settled          | its status is about an earlier spec                | observe
//   otherwise                       |                                                    | -
//
// An address with a claimRef that an operator wrote is unclaimed: only that Service may claim it.
import { type ElasticIP, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { allowedBeforeMoveAnnotation } from '../../ledger/record/names.ts'
import { isUnobserved } from '../../ledger/record/status.ts'
import { lacksFinalizer } from '../../ledger/record/records.ts'
import { hasSource, hasReservationOf, isClaimed, isClaimedBy, isSource, isWarm } from '../../ledger/record/source.ts'

/** A change for an available address. Each is safe to repeat, and none relies on the success of another. */
export type AvailableStep =
  | {
      do: 'reserve' | 'provision' | 'bind' | 'add-finalizer' | 'observe' | 'reclaim' | 'release' | 'remove'
      source: ElasticIP
    }
  | { do: 'transfer' | 'restore-claim'; source: ElasticIP; record: ElasticIP }
  | { do: 'clear-source'; record: ElasticIP }

export type AvailableSeen = {
  source: ElasticIP | undefined
  /** The record of the Service that claimed the address, or a record that names this source. */
  record: ElasticIP | undefined
}

/** The next step for one available address; undefined if it is settled. Pure. */
export function planAvailable({ source, record }: AvailableSeen): AvailableStep | undefined {
  if (!source) return record?.spec.source?.type === 'WarmPool' ? { do: 'clear-source', record } : undefined
  if (!isSource(source)) return undefined
  if (record && isClaimLost(source, record)) return { do: 'restore-claim', source, record }
  if (phaseOf(source) === 'Releasing') return { do: 'release', source }
  const step = isClaimed(source) ? planClaimed(source, record) : planUnclaimed(source, record)
  if (step) return step
  if (lacksFinalizer(source)) return { do: 'add-finalizer', source }
  return isSettled(source) && isUnobserved(source) ? { do: 'observe', source } : undefined
}

/** Whether no other write follows: a claim ends with a status, and `kubectl eip move` writes the spec twice. */
function isSettled(source: ElasticIP): boolean {
  const isMoving = source.metadata.annotations?.[allowedBeforeMoveAnnotation] !== undefined
  return !isMoving && isClaimed(source) === (phaseOf(source) === 'Bound')
}

/** Whether a record holds the reservation, but another writer removed its claim: a person, or a restored backup. */
function isClaimLost(source: ElasticIP, record: ElasticIP): boolean {
  if (!hasReservationOf(record, source) || source.status?.deletionRequestedAt !== undefined) return false
  return !isClaimedBy(source, record) || phaseOf(source) === 'Releasing'
}

function planClaimed(source: ElasticIP, record: ElasticIP | undefined): AvailableStep | undefined {
  // Both were restored from a backup and have new uids. The Service claims the address again once it is provisioned.
  const isRestored = record !== undefined && hasSource(record, source) && !isClaimedBy(source, record)
  if (isRestored && !isProvisioned(source) && !isWarm(source) && !source.metadata.deletionTimestamp) {
    return { do: 'provision', source }
  }
  // A record that was deleted, or has another address now, never returns to this source.
  if (!record || !isClaimedBy(source, record) || !hasSource(record, source)) return { do: 'reclaim', source }
  if (!hasReservationOf(record, source) && !isEmptied(source, record))
    return isWarm(source) || isProvisioned(source) ? undefined : { do: 'provision', source }
  if (record.spec.source?.type === 'WarmPool') return { do: 'transfer', source, record }
  return phaseOf(record) === 'Bound' && phaseOf(source) !== 'Bound' ? { do: 'bind', source } : undefined
}

/** Whether the status of a warm source was emptied, although the record still names what it got from it. */
function isEmptied(source: ElasticIP, record: ElasticIP): boolean {
  return isWarm(source) && source.status?.reservationID === undefined && record.status?.reservationID !== undefined
}

function planUnclaimed(source: ElasticIP, record: ElasticIP | undefined): AvailableStep | undefined {
  // The record already got an older warm address of the same name, and keeps it.
  const isNamed = record?.spec.source?.type === 'WarmPool' && hasSource(record, source)
  if (isNamed && record.status?.reservationID !== undefined) return { do: 'clear-source', record }
  if (phaseOf(source) === 'Bound') return { do: 'reclaim', source }
  if (source.metadata.deletionTimestamp) {
    return isWarm(source) || source.status?.reservationID !== undefined
      ? { do: 'release', source }
      : { do: 'remove', source }
  }
  if (isProvisioned(source)) return undefined
  return isWarm(source) ? { do: 'reserve', source } : { do: 'provision', source }
}

function isProvisioned(source: ElasticIP): boolean {
  return phaseOf(source) !== 'Requested' && source.status?.address !== undefined
}
