import { type ElasticIP, claimKey, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { holdsReservation, hasSource, isSource, isClaimedBy, isWarm } from '../../ledger/record/source.ts'

/** One change for an address in stock. Each is safe to repeat, and none needs another to have worked. */
export type AvailableStep =
  | { do: 'reserve'; source: ElasticIP }
  | { do: 'provision'; source: ElasticIP }
  | { do: 'transfer'; source: ElasticIP; record: ElasticIP }
  | { do: 'bind'; source: ElasticIP }
  | { do: 'restore-claim'; source: ElasticIP; record: ElasticIP }
  | { do: 'reclaim'; source: ElasticIP }
  | { do: 'release'; source: ElasticIP }
  | { do: 'remove'; source: ElasticIP }
  | { do: 'clear-source'; record: ElasticIP }

export type AvailableSeen = {
  source: ElasticIP | undefined
  /** The record of the Service that has taken the address, or says that its address is from here. */
  record: ElasticIP | undefined
}

/** The next step for one address in stock, from what is seen of it and of the record that has taken it. Pure. */
export function planAvailable({ source, record }: AvailableSeen): AvailableStep | undefined {
  if (!source) return record?.spec.source?.type === 'WarmPool' ? { do: 'clear-source', record } : undefined
  if (!isSource(source)) return undefined
  if (phaseOf(source) === 'Releasing') return { do: 'release', source }
  return claimKey(source) === undefined ? untaken(source, record) : taken(source, record)
}

function taken(source: ElasticIP, record: ElasticIP | undefined): AvailableStep | undefined {
  // A record that took it and is gone, or has found another address since, never comes back to it.
  if (!record || !isClaimedBy(source, record) || !hasSource(record, source)) return { do: 'reclaim', source }
  if (!holdsReservation(record, source))
    return isWarm(source) || isProvisioned(source) ? undefined : { do: 'provision', source }
  if (record.spec.source?.type === 'WarmPool') return { do: 'transfer', source, record }
  return phaseOf(record) === 'Bound' && phaseOf(source) !== 'Bound' ? { do: 'bind', source } : undefined
}

function untaken(source: ElasticIP, record: ElasticIP | undefined): AvailableStep | undefined {
  // Somebody wrote over who has it.
  if (record && holdsReservation(record, source)) return { do: 'restore-claim', source, record }
  // It took one of the same name, and has it for good.
  if (record?.spec.source?.type === 'WarmPool' && record.status?.reservationID !== undefined) {
    return { do: 'clear-source', record }
  }
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
