import { type IpFamily, familyNames } from '../../lib/ip-address.ts'
import type { AddressKey, ElasticIP, ReclaimPolicy } from '../record/elastic-ip.ts'
import type { Want } from '../want/want.ts'
import { defined } from '../../lib/json.ts'

/** The address to claim: one in a location, or that of a provisioned ElasticIP. */
export type ClaimSpec = { family: IpFamily } & (
  | { location: string; reclaim: ReclaimPolicy; isReclaimStated?: true; elasticIP?: undefined }
  | { elasticIP: string; location?: undefined; reclaim?: undefined; isReclaimStated?: undefined }
)

export type Claim = ClaimSpec & {
  key: AddressKey
  /** The uid of the stored Service; absent while it is created. */
  uid?: string | undefined
  /** The Service already shows one of our addresses: the provider may have it although no record does. */
  isShown?: boolean
  /** Whether to wait for a busy record until the signal aborts, as a review does; else the result is `busy` at once. */
  wait: boolean
}

export type ClaimResult =
  | { kind: 'held'; record: ElasticIP; address: string }
  /**
   * The address will come later: the provider has not granted it, or could not be reached. `retryAfterMs`: how long to
   * wait before asking the provider again; absent if it was not asked.
   */
  | { kind: 'pending'; reason: string; retryAfterMs?: number }
  /** There will be no address until a person changes something. `retryAfterMs` as above. */
  | { kind: 'refused'; reason: string; retryAfterMs?: number }
  /** Another claim or a release works on the record: try again shortly. */
  | { kind: 'busy'; reason: string }

export const busy: ClaimResult = { kind: 'busy', reason: 'its reservation is still in progress' }

/** The claim for the first address that a Service wants. */
export function claimSpecOf(wanted: Extract<Want, { kind: 'reserve' | 'named' }>): ClaimSpec {
  if (wanted.kind === 'named') return { elasticIP: wanted.elasticIP, family: wanted.family }
  return reserveSpec(wanted, wanted.family)
}

/** The claim for the second address that a Service wants; undefined if it wants only one. */
export function secondClaimOf(wanted: Extract<Want, { kind: 'reserve' | 'named' }>): ClaimSpec | undefined {
  if (wanted.kind === 'named' || !wanted.second) return undefined
  return reserveSpec(wanted, wanted.second.family)
}

function reserveSpec(
  { location, reclaim, isReclaimStated }: Extract<Want, { kind: 'reserve' }>,
  family: IpFamily,
): ClaimSpec {
  return { location, reclaim, ...(isReclaimStated && { isReclaimStated }), family }
}

/** The spec of a claim's new record, and the available address that it tries first, if any. */
export function recordSpecOf(claim: ClaimSpec, source: ElasticIP | undefined): Omit<ElasticIP['spec'], 'claimRef'> {
  const location = claim.location ?? source?.spec.location
  const sourceRef = namedSource(claim) ?? (source && ({ name: source.metadata.name, type: 'WarmPool' } as const))
  return {
    ...defined({ location, source: sourceRef }),
    ...(claim.family === 'ipv6' && { ipFamily: familyNames[claim.family] }),
    reclaimPolicy: claim.reclaim ?? 'Delete',
  }
}

/** The source of a claim that names a provisioned ElasticIP. */
export function namedSource({ elasticIP }: ClaimSpec): ElasticIP['spec']['source'] {
  return elasticIP === undefined ? undefined : { name: elasticIP, type: 'Provisioned' }
}
