import type { AddressInUse } from './address-use.ts'
import type { ElasticIP } from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'

/** Writes on a record, once, that its address is in use, and throws: the caller's owner reads it in an Event. */
export async function stayInUse(
  deps: Pick<LedgerDeps, 'records'>,
  { record, error }: { record: ElasticIP; error: AddressInUse },
  signal: AbortSignal,
): Promise<never> {
  const { message } = error
  if (record.status?.message !== message) await deps.records.writeStatus(record, { message }, { signal })
  throw error
}
