import type { ElasticIP } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isSource, isWarm } from '../record/source.ts'
import { writeOffProvisioned } from './provision.ts'

export type ProvisionedSeen = { source: ElasticIP | undefined; record: ElasticIP | undefined }

/** When a missed address is checked again: a Service may announce what is another customer's by then. */
const secondCheckMs = 30_000

/**
 * Checks from time to time whether the cloud still has a provisioned address. It need not carry our marks, so it is not
 * in the sweep's list. It is written off only when two checks in a row miss it. Returns when to check again.
 */
export function provisionedCheck(deps: LedgerDeps, of: { everyMs: number; monotonicMs: () => number }) {
  const dueAtMs = new Map<string, number>()
  const missedOnce = new Set<string>()
  return async ({ source, record }: ProvisionedSeen, signal: AbortSignal): Promise<{ againInMs?: number }> => {
    const id = source?.status?.reservationID
    if (!source || id === undefined || !isSource(source) || isWarm(source)) return {}
    const { name } = source.metadata
    const dueInMs = (dueAtMs.get(name) ?? -Infinity) - of.monotonicMs()
    if (dueInMs > 0) return { againInMs: dueInMs }
    const exists = (await deps.cloud.reservation(id, signal)) !== undefined
    const isLost = !exists && missedOnce.has(name)
    if (exists || isLost) missedOnce.delete(name)
    else missedOnce.add(name)
    if (isLost) await writeOffProvisioned(deps, { source, record }, signal)
    const againInMs = exists || isLost ? of.everyMs : Math.min(of.everyMs, secondCheckMs)
    dueAtMs.set(name, of.monotonicMs() + againInMs)
    return { againInMs }
  }
}
