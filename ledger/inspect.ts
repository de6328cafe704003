import type { AskParts } from './ask.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { lose } from './provision.ts'
import { isStock, isWarm } from './stock.ts'

export type Inspection = { lot: ElasticIP | undefined; record: ElasticIP | undefined }

/**
 * Looks now and then whether the cloud still has what a person provisioned: it need not carry our marks, so no list of
 * ours shows when it is gone. Only when two looks in a row say so it is written off. Answers when to look again.
 */
export function inspector(parts: AskParts, of: { everyMs: number; monotonicMs: () => number }) {
  const looked = new Map<string, number>()
  const missing = new Set<string>()
  return async (seen: Inspection, signal: AbortSignal): Promise<{ againInMs?: number }> => {
    const { lot } = seen
    const id = lot?.status?.reservationID
    if (!lot || id === undefined || !isStock(lot) || isWarm(lot)) return {}
    const { name } = lot.metadata
    const dueInMs = (looked.get(name) ?? -Infinity) + of.everyMs - of.monotonicMs()
    if (dueInMs > 0) return { againInMs: dueInMs }
    looked.set(name, of.monotonicMs())
    const isThere = (await parts.cloud.reservation(id, signal)) !== undefined
    const isLost = !isThere && missing.has(name)
    if (isThere || isLost) missing.delete(name)
    else missing.add(name)
    if (isLost) await lose(parts, { lot, record: seen.record })
    return { againInMs: of.everyMs }
  }
}
