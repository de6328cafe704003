import { KubeError } from '../kube/errors.ts'
import type { Claim, ClaimResult } from '../ledger/claim/claim-spec.ts'
import type { UnboundClaim } from '../ledger/claim/limits.ts'
import { secondKey } from '../ledger/record/elastic-ip.ts'
import type { SecondWant } from '../ledger/want/families.ts'
import { familyNames } from '../lib/ip-address.ts'

export type ClaimAddress = (claim: UnboundClaim, signal: AbortSignal) => Promise<ClaimResult>

/** What the claims of a Service's addresses came to; `second` is undefined where it wants one alone. */
export type Claimed = { first: ClaimResult; second: ClaimResult | undefined }

/**
 * Claims the addresses of a Service at the same time. Nobody waits for the second one if the first is not held: a Service has
 * no second address alone.
 */
export async function claimAddresses(
  claim: ClaimAddress,
  { first, second }: { first: UnboundClaim; second: Claim | undefined },
  signal: AbortSignal,
): Promise<Claimed> {
  if (!second) return { first: await claim(first, signal), second: undefined }
  const unneeded = new AbortController()
  const results = await Promise.all([
    claim(first, signal).then(
      (result) => (result.kind !== 'held' && unneeded.abort(), result),
      (error: unknown) => {
        unneeded.abort()
        throw error
      },
    ),
    // The Service of which the quotas of its namespace count one is that of the first.
    claim({ ...second, quotaUse: {} }, AbortSignal.any([signal, unneeded.signal])).catch(pendingAfter),
  ])
  return { first: results[0], second: results[1] }
}

/** Where the API server failed, the record of the second address says how far its claim came: the controller goes on. */
function pendingAfter(error: unknown): ClaimResult {
  if (!(error instanceof KubeError)) throw error
  return { kind: 'pending', reason: error.message }
}

/** The claim of the second address beside that of the first. */
export function secondClaim(first: Claim, { family }: SecondWant): Claim {
  return { ...first, family, key: secondKey(first.key, family) }
}

/** What a Service is told about a second address that it does not get now, and whether it is denied for that. */
export function missingSecond(
  second: ClaimResult | undefined,
  { wanted, onCloudFailure }: { wanted: SecondWant | undefined; onCloudFailure: 'defer' | 'deny' },
): { denial?: string; warning?: string } {
  if (!second || !wanted || second.kind === 'held') return {}
  const { reason } = second
  const what = `${familyNames[wanted.family]} address`
  const required = `gets no ${what}, and spec.ipFamilyPolicy "RequireDualStack" requires two: ${reason}`
  if (second.kind === 'refused')
    return wanted.isRequired
      ? { denial: required }
      : { warning: `no ${what}, the controller tries again later: ${reason}` }
  return wanted.isRequired && onCloudFailure === 'deny'
    ? { denial: required }
    : { warning: `${what} pending, the controller assigns it later: ${reason}` }
}
