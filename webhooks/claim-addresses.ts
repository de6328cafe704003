import { KubeError } from '../kube/errors.ts'
import type { Claim, ClaimResult } from '../ledger/claim/claim-spec.ts'
import type { UnboundClaim } from '../ledger/claim/limits.ts'
import { secondKey } from '../ledger/record/elastic-ip.ts'
import type { SecondWant } from '../ledger/want/families.ts'
import { familyNames } from '../lib/ip-address.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import { type Key, type Service, splitKey, type ResourceQuota } from '../kube/objects.ts'
import { services, resourceQuotas } from '../kube/resource.ts'
import { listAll } from '../kube/list-all.ts'

export type ClaimAddress = (claim: UnboundClaim, signal: AbortSignal) => Promise<ClaimResult>

/** The results of claiming a Service's addresses; `second` is undefined if it wants only one. */
export type Claimed = { first: ClaimResult; second: ClaimResult | undefined }

/**
 * Claims the addresses of a Service at the same time. If the first is not held, no caller waits for the second: a
 * Service never has only a second address.
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
    claimSecond(claim, second, AbortSignal.any([signal, unneeded.signal])),
  ])
  return { first: results[0], second: results[1] }
}

/** Claims the second address of a Service. The first already counts as the Service in its namespace's quotas. */
export async function claimSecond(claim: ClaimAddress, second: Claim, signal: AbortSignal): Promise<ClaimResult> {
  try {
    return await claim({ ...second, quotaUse: {} }, signal)
  } catch (error) {
    // The record of the second address says how far its claim came, and the controller continues from there.
    if (error instanceof KubeError) return { kind: 'pending', reason: error.message }
    throw error
  }
}

/** The claim of the second address, derived from that of the first. */
export function secondClaim(first: Claim, { family }: SecondWant): Claim {
  return { ...first, family, key: secondKey(first.key, family) }
}

/** Why a Service without its second address is denied, or the warnings that it gets meanwhile. */
export type MissingSecond = { denial?: string; warnings: string[] }

/** The answer for a Service that does not get its second address now. */
export function missingSecond(
  second: ClaimResult | undefined,
  { wanted, onCloudFailure }: { wanted: SecondWant | undefined; onCloudFailure: 'defer' | 'deny' },
): MissingSecond {
  if (!second || !wanted || second.kind === 'held') return { warnings: [] }
  const { reason } = second
  const what = `${familyNames[wanted.family]} address`
  const denial = `gets no ${what}, and spec.ipFamilyPolicy "RequireDualStack" requires two: ${reason}`
  const isRefused = second.kind === 'refused'
  if (wanted.isRequired && (isRefused || onCloudFailure === 'deny')) return { denial, warnings: [] }
  return isRefused
    ? { warnings: [`no ${what}, the controller tries again later: ${reason}`] }
    : { warnings: [`${what} pending, the controller assigns it later: ${reason}`] }
}

type Deps = { client: Pick<KubeClient, 'get'>; cached: (key: Key) => Service | undefined; log: Log }

/** A review waits for this read, and needs the rest of its time for the provider. */
const timeoutMs = 2_000

/**
 * Whether the API server has a Service of a key now; undefined if it does not answer. It is asked only if the cache has
 * the Service, which may be deleted already.
 */
export function existingService({ client, cached, log }: Deps) {
  return async (key: Key, signal: AbortSignal): Promise<boolean | undefined> => {
    if (!cached(key)) return false
    try {
      return (await client.get(services, splitKey(key), { timeoutMs, signal })) !== undefined
    } catch (error) {
      log.warn({ key, error: String(error) }, 'cannot read whether a Service of this name exists')
      return undefined
    }
  }
}

/** A review waits for the quotas, which only save money, so they get little time. */
const quotaTimeoutMs = 2_000

/** Reads the ResourceQuotas of a namespace. If they cannot be read, none is assumed: the API server enforces them anyway. */
export function readQuotas(client: Pick<KubeClient, 'list'>, log: Log) {
  return async (namespace: string, signal: AbortSignal): Promise<readonly ResourceQuota[]> => {
    try {
      return await listAll(client, resourceQuotas, { namespace, timeoutMs: quotaTimeoutMs, signal })
    } catch (error) {
      if (!signal.aborted) log.warn({ namespace, error: String(error) }, 'quotas not read')
      return []
    }
  }
}
