import type { LedgerDeps } from '../claim/ask.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { writeOffProvisioned } from './provision.ts'
import { isSource, isWarm } from '../record/source.ts'

export type ProvisionedSeen = { source: ElasticIP | undefined; record: ElasticIP | undefined }

/**
 * Looks now and then whether the cloud still has what a person provisioned: it need not carry our marks, so no list of
 * ours shows when it is gone. Only when two looks in a row say so it is written off. Answers when to look again.
 */
export function provisionedCheck(deps: LedgerDeps, of: { everyMs: number; monotonicMs: () => number }) {
  const looked = new Map<string, number>()
  const missing = new Set<string>()
  return async (seen: ProvisionedSeen, signal: AbortSignal): Promise<{ againInMs?: number }> => {
    const { source } = seen
    const id = source?.status?.reservationID
    if (!source || id === undefined || !isSource(source) || isWarm(source)) return {}
    const { name } = source.metadata
    const dueInMs = (looked.get(name) ?? -Infinity) + of.everyMs - of.monotonicMs()
    if (dueInMs > 0) return { againInMs: dueInMs }
    looked.set(name, of.monotonicMs())
    const isThere = (await deps.cloud.reservation(id, signal)) !== undefined
    const isLost = !isThere && missing.has(name)
    if (isThere || isLost) missing.delete(name)
    else missing.add(name)
    if (isLost) await writeOffProvisioned(deps, { source, record: seen.record })
    return { againInMs: of.everyMs }
  }
}
