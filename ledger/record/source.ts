import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey, phaseOf, recordName } from './elastic-ip.ts'
import { warmLabel } from './names.ts'
import { isReleaseRecord } from '../release/release-record.ts'

/** Whether a record is no Service's own: an address that was there before its Service, provisioned by a person or warm. */
export function isSource(record: ElasticIP): boolean {
  const key = claimKey(record)
  return !isReleaseRecord(record) && (key === undefined || recordName(key) !== record.metadata.name)
}

/** Whether an address waits for whichever Service comes. Without the label it is a person's, to be chosen by name. */
export function isWarm(record: ElasticIP): boolean {
  return isSource(record) && record.metadata.labels?.[warmLabel] !== undefined
}

/** Whether an address of the stock can be taken by anybody. */
export function isAvailable(source: ElasticIP): boolean {
  return claimKey(source) === undefined && phaseOf(source) === 'Available' && isWhole(source)
}

/**
 * Whether the Service of a key can have an address of the stock: a free one, or one that went to an earlier record of its
 * own, for records of one Service are never there at the same time.
 */
export function isAvailableFor(key: Key | undefined, source: ElasticIP): boolean {
  const isItsOwn = key !== undefined && claimKey(source) === key
  return isAvailable(source) || (isItsOwn && ['Available', 'Bound'].includes(phaseOf(source)) && isWhole(source))
}

function isWhole(source: ElasticIP): boolean {
  return isSource(source) && source.metadata.deletionTimestamp === undefined && source.status?.address !== undefined
}

/** Whether it is this record that has taken an address out of the stock. */
export function isClaimedBy(source: ElasticIP, { metadata }: ElasticIP): boolean {
  return metadata.uid !== undefined && source.spec.claimRef?.elasticIPUID === metadata.uid
}

/** Whether a record says that its address comes from this one. */
export function hasSource(record: ElasticIP, source: ElasticIP): boolean {
  return record.spec.source?.name === source.metadata.name
}

/** Whether a record has the very reservation that was taken out of the stock for it. */
export function holdsReservation(record: ElasticIP, source: ElasticIP): boolean {
  const id = source.status?.reservationID
  return id !== undefined && record.status?.reservationID === id && hasSource(record, source)
}

/** Why a Service cannot have the address that it chose by name, and what to do, in words for whoever asked for it. */
export function unavailableReason(
  source: ElasticIP | undefined,
  { name, key }: { name: string; key: Key },
): string | undefined {
  if (!source) return `ElasticIP ${name} does not exist; kubectl get eip shows which there are`
  if (isAvailableFor(key, source) && !isWarm(source)) return undefined
  return `ElasticIP ${name} ${problemOf(source, key)}`
}

function problemOf(source: ElasticIP, key: Key): string {
  const { name } = source.metadata
  const holder = claimKey(source)
  if (!isSource(source)) return 'was not provisioned to be chosen; name another one'
  if (isWarm(source)) {
    const how = `kubectl label eip ${name} ${warmLabel}-`
    return `is of the warm pool, which serves Services that name none; to choose it take it out of the pool: ${how}`
  }
  if (holder !== undefined && holder !== key) {
    return `is held by Service ${holder}; delete that Service first, or name another ElasticIP`
  }
  if (source.metadata.deletionTimestamp) return 'is being deleted; name another one'
  return `is not Available: ${source.status?.message ?? `it is ${phaseOf(source)}`}; kubectl describe eip ${name} says more`
}
