// How long the claim of a stored Service waits after the cloud was asked in vain. Any editor of a Service could empty the
// cloud's rate limit otherwise: each edit would be an order, past every back-off. Another request of the Service ends the
// wait, except one that the cloud asked for. After three such changes the wait is for any request.
//
// Each process has its own memory (docs/adr/0020-waiting-for-the-cloud.md). A create has no Service yet, and does not wait.
import { backoffMs } from '../../lib/repeat.ts'
import { shortMemory } from '../../lib/short-memory.ts'
import type { AddressKey } from '../record/elastic-ip.ts'
import type { Claim, ClaimResult } from './claim-spec.ts'

export type ClaimWaits = {
  /** How long the next claim has to wait; 0 if it may be made now. */
  leftMs(claim: Claim): number
  /** The result that a claim has for as long as it waits; undefined if it may be made now. */
  standing(claim: Claim): ClaimResult | undefined
  /** Keeps what a claim came to; `retryAfterMs` of the result is then how long the next one waits. */
  note(claim: Claim, result: ClaimResult): ClaimResult
  /** Why the last claim of a key came to no address; undefined if none waits. */
  reason(key: AddressKey): string | undefined
  /** Forgets the wait of a key: its record has an address, perhaps by a sweep. */
  end(key: AddressKey): void
}

/** As after an error of any other kind. */
const refusedMs = { firstMs: 500, maxMs: 300_000 }
/** How long until we ask whether the cloud has granted an address: the longer it is pending, the rarer. */
const pendingMs = { first: 5_000, longest: 60_000 }
/** A cloud that asks for a longer wait does not know that users change their Services. */
const maxAskedMs = 10 * 60_000
const unaskedMs = 1_000
/** A person corrects a request that fails, perhaps twice. */
const maxChanges = 3
/** Longer than any wait. Older entries say nothing any more, and their Services may be deleted. */
const keptMs = 20 * 60_000

type Wait = {
  uid: string
  wish: string
  result: Exclude<ClaimResult, { kind: 'held' }>
  untilMs: number
  until: Date
  /** Whether another request waits too. */
  isForAll: boolean
  /** How often the request has changed before the wait of the one before it had ended. */
  changes: number
  refusals: number
  pendingSinceMs: number | undefined
}

/** Nothing waits yet. */
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

/** The fields that decide about the answer of the cloud; the later fate of the address does not count. */
function wishOf({ family, location, elasticIP }: Claim): string {
  return JSON.stringify([family, location, elasticIP])
}

/** A person who has changed something reads when the cloud is asked again. Without the cloud, a review asks at once. */
function forReview({ result, until }: Wait): ClaimResult | undefined {
  if (askedMs(result) === undefined) return undefined
  return { ...result, reason: `${result.reason}; it is asked again after ${until.toISOString()}` }
}

/** How long the cloud wants us to wait; undefined if it was not asked. */
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
