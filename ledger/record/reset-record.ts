import type { ElasticIP } from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'

/** Takes a lost address off a record: the next claim of its Service begins anew. */
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
  const change = { phase: 'Requested', address: undefined, reservationID: undefined, message } as const
  await deps.records.writeStatus(current, change, { signal })
}
