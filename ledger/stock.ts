import type { Key } from '../kube/objects.ts'
import { type ElasticIP, claimKey, phaseOf, recordName } from './elastic-ip.ts'
import { warmLabel } from './names.ts'
import { isReturningRecord } from './returning.ts'

/** Whether a record is no Service's own: an address that was there before its Service, provisioned by a person or warm. */
export function isStock(record: ElasticIP): boolean {
  const key = claimKey(record)
  return !isReturningRecord(record) && (key === undefined || recordName(key) !== record.metadata.name)
}

/** Whether an address waits for whichever Service comes. Without the label it is a person's, to be chosen by name. */
export function isWarm(record: ElasticIP): boolean {
  return isStock(record) && record.metadata.labels?.[warmLabel] !== undefined
}

/** Whether an address of the stock can be taken by anybody. */
export function isFree(lot: ElasticIP): boolean {
  return claimKey(lot) === undefined && phaseOf(lot) === 'Available' && isWhole(lot)
}

/**
 * Whether the Service of a key can have an address of the stock: a free one, or one that went to an earlier record of its
 * own, for records of one Service are never there at the same time.
 */
export function isFreeFor(key: Key | undefined, lot: ElasticIP): boolean {
  const isItsOwn = key !== undefined && claimKey(lot) === key
  return isFree(lot) || (isItsOwn && ['Available', 'Bound'].includes(phaseOf(lot)) && isWhole(lot))
}

function isWhole(lot: ElasticIP): boolean {
  return isStock(lot) && lot.metadata.deletionTimestamp === undefined && lot.status?.address !== undefined
}

/** Whether it is this record that has taken an address out of the stock. */
export function isTakenBy(lot: ElasticIP, { metadata }: ElasticIP): boolean {
  return metadata.uid !== undefined && lot.spec.claimRef?.record === metadata.uid
}

/** Whether a record says that its address comes from this one. */
export function isFrom(record: ElasticIP, lot: ElasticIP): boolean {
  return record.spec.from?.name === lot.metadata.name
}

/** Whether a record has the very reservation that was taken out of the stock for it. */
export function holds(record: ElasticIP, lot: ElasticIP): boolean {
  const id = lot.status?.reservationID
  return id !== undefined && record.status?.reservationID === id && isFrom(record, lot)
}

/** Why a Service cannot have the address that it chose by name, and what to do, in words for whoever asked for it. */
export function whyNot(lot: ElasticIP | undefined, { name, key }: { name: string; key: Key }): string | undefined {
  if (!lot) return `ElasticIP ${name} does not exist; kubectl get eip shows which there are`
  if (isFreeFor(key, lot) && !isWarm(lot)) return undefined
  return `ElasticIP ${name} ${problemOf(lot, key)}`
}

function problemOf(lot: ElasticIP, key: Key): string {
  const { name } = lot.metadata
  const holder = claimKey(lot)
  if (!isStock(lot)) return 'was not provisioned to be chosen; name another one'
  if (isWarm(lot)) {
    const how = `kubectl label eip ${name} ${warmLabel}-`
    return `is of the warm pool, which serves Services that name none; to choose it take it out of the pool: ${how}`
  }
  if (holder !== undefined && holder !== key) {
    return `is held by Service ${holder}; delete that Service first, or name another ElasticIP`
  }
  if (lot.metadata.deletionTimestamp) return 'is being deleted; name another one'
  return `is not Available: ${lot.status?.message ?? `it is ${phaseOf(lot)}`}; kubectl describe eip ${name} says more`
}
