import { type ElasticIP, reservationIdOf } from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { whoseIs } from './marks.ts'

/** Removes a lost address from a record, so that the next claim of its Service starts over. */
export async function resetRecord(
  deps: Pick<LedgerDeps, 'records' | 'cloud'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const { address, reservationID: id } = record.status ?? {}
  // An adopted address may have no location, but the CRD requires a location or a reservationID. The next claim fills it.
  const { reservationID: _lost, location = '', ...rest } = record.spec
  const spec = { ...rest, location }
  const current =
    record.spec.reservationID === undefined ? record : await deps.records.writeSpec(record, spec, { signal })
  const message = `${deps.cloud.name} no longer has ${address}, reservation ${id}`
  const change = { phase: 'Requested', address: null, reservationID: null, message } as const
  await deps.records.writeStatus(current, change, { signal })
}

/**
 * Replaces an address that belongs to another record by that of the record's own reservation. Returns the address;
 * undefined if the provider has none. The CRD forbids a change of the address, so the wrong one is removed first.
 */
export async function correctRecord(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = reservationIdOf(record)
  const found = id === undefined ? undefined : await deps.cloud.reservation(id, signal)
  if (!found?.address || whoseIs(deps, record, found).whose !== 'changed') return undefined
  const { address } = found
  const wrong = record.status?.address
  deps.log.error({ record: record.metadata.name, address, wrong, reservation: id }, 'a wrong address is corrected')
  const cleared = await deps.records.writeStatus(record, { address: null }, { signal })
  await deps.records.writeStatus(cleared, { address }, { signal })
  return address
}
