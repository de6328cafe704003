import { type Key, type ResourceQuota, splitKey } from '../../kube/objects.ts'
import { type Claim, type ClaimResult, busy } from './claim-spec.ts'
import { type QuotaUse, quotaReason } from './quota.ts'

type ClaimAddress = (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>

/** The claim of a Service that is not stored yet, with what it uses of its namespace's quotas once it is. */
export type UnboundClaim = Claim & { quotaUse: QuotaUse }

type ClaimUnbound = (claim: UnboundClaim, signal: AbortSignal) => Promise<ClaimResult>

export type UnboundLimitOptions = {
  claim: ClaimAddress
  /** The Services for which addresses are requested or reserved, and that no controller has seen stored. */
  unbound: () => Key[]
  max: number
  /** The ResourceQuotas of a namespace, read live. */
  quotas: (namespace: string, signal: AbortSignal) => Promise<readonly ResourceQuota[]>
}

/** The part of the maximum that one namespace may use, so that no tenant takes admission from all others. */
const namespaceShare = 1 / 4

/**
 * Limits claims for Services that may never be stored. Else a client could buy addresses without end: one that only
 * sends reviews, or one whose Services a quota refuses after us. Beyond a limit the claim is pending, and the
 * controller completes it: it sees only stored Services.
 */
export function limitUnbound({ claim, unbound, max, quotas }: UnboundLimitOptions): ClaimUnbound {
  /** In the order in which they began. */
  const running = new Set<Key>()
  return async ({ quotaUse, ...wanted }, signal) => {
    const { key } = wanted
    const earlier = new Set([...unbound(), ...running].filter((other) => other !== key))
    const { namespace } = splitKey(key)
    const waiting = [...earlier].filter((other) => splitKey(other).namespace === namespace).length
    const reason = unboundReason({ all: earlier.size, waiting, max, namespace })
    if (reason !== undefined) return { kind: 'pending', reason }
    running.add(key)
    try {
      const isCounted = Object.keys(quotaUse).length > 0
      const refusal = isCounted ? quotaReason(await quotas(namespace, signal), quotaUse, waiting) : undefined
      // The time of the review is over, and a claim that begins now could not be answered.
      if (signal.aborted) return busy
      return refusal === undefined ? await claim(wanted, signal) : { kind: 'pending', reason: refusal }
    } finally {
      running.delete(key)
    }
  }
}

function unboundReason(of: { all: number; waiting: number; max: number; namespace: string }): string | undefined {
  const { all, waiting, max, namespace } = of
  const share = Math.max(1, Math.floor(max * namespaceShare))
  if (all >= max) return `${max} addresses are waiting for their Services (--max-unbound)`
  if (waiting < share) return undefined
  return `${share} addresses in namespace ${namespace} are waiting for their Services (a quarter of --max-unbound)`
}
