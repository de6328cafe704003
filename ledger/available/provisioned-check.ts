import type { ElasticIP } from '../record/elastic-ip.ts'
import { findCertainly } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isSource, isWarm } from '../record/source.ts'
import { whoseIs } from '../record/whose.ts'
import { writeOffProvisioned } from './provision.ts'

export type ProvisionedSeen = { source: ElasticIP | undefined; record: ElasticIP | undefined }

/** When a missed address is checked again: a Service may announce what is another customer's by then. */
const secondCheckMs = 30_000

export type ProvisionedChecks = {
  /** Returns when to check again. */
  check: (seen: ProvisionedSeen, signal: AbortSignal) => Promise<{ againInMs?: number }>
  /** Forgets the results of previous checks: between two terms of a leader much may have happened. */
  forget: () => void
}

/**
 * Checks from time to time whether the cloud still has a provisioned address. It need not carry our marks, so it is not
 * in the sweep's list. It is written off only when two checks in a row miss it, by its id and in the project's list. An
 * address whose id the cloud gave to another one is missing, too. A token that lost its rights finds nothing by an id.
 */
export function provisionedCheck(
  deps: LedgerDeps,
  of: { everyMs: number; monotonicMs: () => number },
): ProvisionedChecks {
  const dueAtMs = new Map<string, number>()
  const missedOnce = new Set<string>()
  return {
    async check({ source, record }, signal) {
      const id = source?.status?.reservationID
      if (!source || id === undefined || !isSource(source) || isWarm(source)) return {}
      const dueInMs = (dueAtMs.get(id) ?? -Infinity) - of.monotonicMs()
      if (dueInMs > 0) return { againInMs: dueInMs }
      const found = await findCertainly(deps, id, signal)
      const isMissed = !found || whoseIs(deps, source, found).isLost
      const isLost = isMissed && missedOnce.has(id)
      if (!isMissed || isLost) missedOnce.delete(id)
      else missedOnce.add(id)
      if (isLost) await writeOffProvisioned(deps, { source, record }, signal)
      const againInMs = !isMissed || isLost ? of.everyMs : Math.min(of.everyMs, secondCheckMs)
      dueAtMs.set(id, of.monotonicMs() + againInMs)
      return { againInMs }
    },
    forget() {
      dueAtMs.clear()
      missedOnce.clear()
    },
  }
}
