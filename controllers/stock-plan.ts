import { type ElasticIP, claimKey, phaseOf } from '../ledger/elastic-ip.ts'
import { holds, isFrom, isStock, isTakenBy, isWarm } from '../ledger/stock.ts'

/** One change for an address in stock. Each is safe to repeat, and none needs another to have worked. */
export type StockStep =
  | { do: 'ask'; lot: ElasticIP }
  | { do: 'provision'; lot: ElasticIP }
  | { do: 'hand-over'; lot: ElasticIP; record: ElasticIP }
  | { do: 'bind'; lot: ElasticIP }
  | { do: 'take-again'; lot: ElasticIP; record: ElasticIP }
  | { do: 'retire'; lot: ElasticIP }
  | { do: 'release'; lot: ElasticIP }
  | { do: 'forget'; lot: ElasticIP }
  | { do: 'forget-source'; record: ElasticIP }

export type StockSeen = {
  lot: ElasticIP | undefined
  /** The record of the Service that has taken the address, or says that its address is from here. */
  record: ElasticIP | undefined
}

/** The next step for one address in stock, from what is seen of it and of the record that has taken it. Pure. */
export function planStock({ lot, record }: StockSeen): StockStep | undefined {
  if (!lot) return record?.spec.from?.lent === false ? { do: 'forget-source', record } : undefined
  if (!isStock(lot)) return undefined
  if (phaseOf(lot) === 'Releasing') return { do: 'release', lot }
  return claimKey(lot) === undefined ? untaken(lot, record) : taken(lot, record)
}

function taken(lot: ElasticIP, record: ElasticIP | undefined): StockStep | undefined {
  // A record that took it and is gone, or has found another address since, never comes back to it.
  if (!record || !isTakenBy(lot, record) || !isFrom(record, lot)) return { do: 'retire', lot }
  if (!holds(record, lot)) return isWarm(lot) || isProvisioned(lot) ? undefined : { do: 'provision', lot }
  if (record.spec.from?.lent === false) return { do: 'hand-over', lot, record }
  return phaseOf(record) === 'Bound' && phaseOf(lot) !== 'Bound' ? { do: 'bind', lot } : undefined
}

function untaken(lot: ElasticIP, record: ElasticIP | undefined): StockStep | undefined {
  // Somebody wrote over who has it.
  if (record && holds(record, lot)) return { do: 'take-again', lot, record }
  // It took one of the same name, and has it for good.
  if (record?.spec.from?.lent === false && record.status?.reservationID !== undefined) {
    return { do: 'forget-source', record }
  }
  if (phaseOf(lot) === 'Bound') return { do: 'retire', lot }
  if (lot.metadata.deletionTimestamp) {
    return isWarm(lot) || lot.status?.reservationID !== undefined ? { do: 'release', lot } : { do: 'forget', lot }
  }
  if (isProvisioned(lot)) return undefined
  return isWarm(lot) ? { do: 'ask', lot } : { do: 'provision', lot }
}

function isProvisioned(lot: ElasticIP): boolean {
  return phaseOf(lot) !== 'Requested' && lot.status?.address !== undefined
}
