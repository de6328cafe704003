import type { ElasticIP } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isSource, isWarm } from '../record/source.ts'
import { writeOffProvisioned } from './provision.ts'

export type ProvisionedSeen = { source: ElasticIP | undefined; record: ElasticIP | undefined }

/**
 * Checks from time to time whether the cloud still has a provisioned address: it need not carry our marks, so it is not
 * in the sweep's list. It is written off only when two checks in a row miss it. Returns when to check again.
 */
export function provisionedCheck(deps: LedgerDeps, of: { everyMs: number; monotonicMs: () => number }) {
  const checkedAtMs = new Map<string, number>()
  const missedOnce = new Set<string>()
  return async ({ source, record }: ProvisionedSeen, signal: AbortSignal): Promise<{ againInMs?: number }> => {
    const id = source?.status?.reservationID
    if (!source || id === undefined || !isSource(source) || isWarm(source)) return {}
    const { name } = source.metadata
    const dueInMs = (checkedAtMs.get(name) ?? -Infinity) + of.everyMs - of.monotonicMs()
    if (dueInMs > 0) return { againInMs: dueInMs }
    checkedAtMs.set(name, of.monotonicMs())
    const exists = (await deps.cloud.reservation(id, signal)) !== undefined
    const isLost = !exists && missedOnce.has(name)
    if (exists || isLost) missedOnce.delete(name)
    else missedOnce.add(name)
    if (isLost) await writeOffProvisioned(deps, { source, record }, signal)
    return { againInMs: of.everyMs }
  }
}
