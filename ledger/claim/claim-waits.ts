// How long the claim of a stored Service backs off after a failed call to the provider. Without this, anyone who may
// edit a Service could use up the provider's rate limit: each edit would be an order. A changed request ends the wait,
// unless the provider asked for it. After three such changes, the wait applies to any request.
//
// Each process has its own memory (docs/adr/0020-waiting-for-the-cloud.md). A create has no stored Service yet, and
// does not wait.
import { backoffMs } from '../../lib/repeat.ts'
import { shortMemory } from '../../lib/short-memory.ts'
import type { AddressKey } from '../record/elastic-ip.ts'
import type { Claim, ClaimResult } from './claim-spec.ts'

export type ClaimWaits = {
  /** How long the next claim has to wait; 0 if it may be made now. */
  leftMs(claim: Claim): number
  /** The result of a claim while it waits; undefined if it may be made now. */
  standing(claim: Claim): ClaimResult | undefined
  /** Remembers the result of a claim. Its `retryAfterMs` becomes the wait before the next claim. */
  note(claim: Claim, result: ClaimResult): ClaimResult
  /** Why the last claim of a key got no address; undefined if no claim waits. */
  reason(key: AddressKey): string | undefined
  /** Ends the wait of a key because its record has an address, perhaps from a sweep. */
  end(key: AddressKey): void
}

/** The same back-off as after any other error. */
const refusedMs = { firstMs: 500, maxMs: 300_000 }
/** How long until we ask whether the provider has granted an address. The wait grows while the address is pending. */
const pendingMs = { first: 5_000, longest: 60_000 }
/** A provider that asks for a longer wait does not know that users change their Services. */
const maxAskedMs = 10 * 60_000
const unaskedMs = 1_000
/** A person needs perhaps two attempts to correct a request that fails. */
const maxChanges = 3
/** Longer than any wait. Older entries are meaningless, and their Services may be deleted. */
const keptMs = 20 * 60_000

type Wait = {
  uid: string
  wish: string
  result: Exclude<ClaimResult, { kind: 'held' }>
  untilMs: number
  until: Date
  /** Whether a changed request waits too. */
  isForAll: boolean
  /** How often the request has changed while its predecessor still waited. */
  changes: number
  refusals: number
  pendingSinceMs: number | undefined
}

/** Creates the memory of one process, in which no claim waits yet. */
export function claimWaits({ monotonicMs, now }: { monotonicMs: () => number; now: () => Date }): ClaimWaits {
  const waits = shortMemory<AddressKey, Wait>({ keptMs, monotonicMs })
  const waitOf = (claim: Claim) => {
    const wait = waits.get(claim.key)
    const isCurrent = wait && wait.uid === claim.uid && (wait.isForAll || wait.wish === wishOf(claim))
    return isCurrent && wait.untilMs > monotonicMs() ? wait : undefined
  }
  return {
    leftMs(claim) {
      const { untilMs } = waitOf(claim) ?? {}
      return untilMs === undefined ? 0 : untilMs - monotonicMs()
    },
    standing(claim) {
      const wait = waitOf(claim)
      return wait && claim.wait ? forReview(wait) : wait?.result
    },
    reason: (key) => waits.get(key)?.result.reason,
    end: (key) => waits.delete(key),
    note(claim, result) {
      const { key, uid } = claim
      if (uid === undefined) return result
      const nowMs = monotonicMs()
      const known = waits.get(key)
      if (result.kind === 'held') {
        waits.delete(key)
        return result
      }
      const former = known?.uid === uid ? known : undefined
      const next = nextWait(result, { former, nowMs })
      const wish = wishOf(claim)
      const changes = former && former.untilMs > nowMs ? former.changes + Number(former.wish !== wish) : 0
      const until = new Date(now().getTime() + next.untilMs - nowMs)
      const isForAll = next.isForAll || changes >= maxChanges
      waits.set(key, { ...next, uid, wish, until, changes, isForAll })
      return next.result
    },
  }
}

/** The fields that decide the provider's answer. The later fate of the address does not matter. */
function wishOf({ family, location, elasticIP }: Claim): string {
  return JSON.stringify([family, location, elasticIP])
}

/** A person who changed something learns when the provider is asked again. If it was not asked, a review asks at once. */
function forReview({ result, until }: Wait): ClaimResult | undefined {
  if (askedMs(result) === undefined) return undefined
  return { ...result, reason: `${result.reason}; the provider is asked again after ${until.toISOString()}` }
}

/** How long the provider wants us to wait; undefined if it was not asked. */
function askedMs(result: Wait['result']): number | undefined {
  return result.kind === 'busy' ? undefined : result.retryAfterMs
}

function nextWait(
  result: Wait['result'],
  { former, nowMs }: { former: Wait | undefined; nowMs: number },
): Omit<Wait, 'uid' | 'wish' | 'until' | 'changes'> {
  const { refusals = 0, pendingSinceMs } = former ?? {}
  const asked = askedMs(result)
  if (asked === undefined) return { result, untilMs: nowMs + unaskedMs, isForAll: false, refusals, pendingSinceMs }
  if (result.kind === 'refused') {
    const retryAfterMs = backoffMs(refusals + 1, refusedMs)
    const untilMs = nowMs + retryAfterMs
    const refused = { ...result, retryAfterMs }
    return { result: refused, untilMs, isForAll: false, refusals: refusals + 1, pendingSinceMs: undefined }
  }
  const sinceMs = pendingSinceMs ?? nowMs
  const pollMs = Math.max(pendingMs.first, Math.min((nowMs - sinceMs) / 2, pendingMs.longest))
  const retryAfterMs = Math.max(pollMs, Math.min(asked, maxAskedMs))
  const pending = { ...result, retryAfterMs }
  return { result: pending, untilMs: nowMs + retryAfterMs, isForAll: asked > 0, refusals, pendingSinceMs: sinceMs }
}
