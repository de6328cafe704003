import type { ClaimResult } from './ask.ts'
import type { Claim, ClaimDeps } from './claim.ts'
import {
  type ElasticIP,
  heldAddress,
  isUnbound,
  provisionedSourceOf,
  phaseOf,
  reservationIdOf,
} from '../record/elastic-ip.ts'
import { elasticIPAnnotation } from '../record/names.ts'
import { assigned, isBeingRemoved } from '../record/records.ts'
import { isClaimedBy } from '../record/source.ts'

/**
 * What a record that is there already means for a claim of its Service: its answer, or that somebody has to be waited
 * for; undefined when the record has no answer yet, and whoever claims may go on with it.
 */
export async function answerStored(
  deps: ClaimDeps,
  record: ElasticIP,
  claim: Claim,
): Promise<ClaimResult | 'busy' | undefined> {
  const other = another(record, claim) ?? elsewhere(record, claim)
  if (other !== undefined) return isWaiting(record) ? { kind: 'refused', why: other } : 'busy'
  const kept = await keep(deps, record)
  if (kept) return kept
  if (phaseOf(record) !== 'Requested' || isBeingRemoved(record) || deps.requestsInFlight.isInFlight(record))
    return 'busy'
  return (await isOnItsWayBack(deps, record, claim)) ? 'busy' : undefined
}

/** Makes an unanswered record ours to ask about; whoever else tried at the same time meets a conflict. */
export async function takeUpRecord(deps: ClaimDeps, record: ElasticIP, claim: Claim): Promise<ElasticIP> {
  const isNamed = claim.elasticIP !== undefined
  const { source: sourceRef, location = '', reservationID, ...rest } = record.spec
  const place = reservationIdOf(record) === undefined ? (claim.location ?? location) : location
  const source = sourceOf(claim) ?? (sourceRef?.type === 'Provisioned' ? undefined : sourceRef)
  const current = await deps.records.writeSpec(record, {
    ...rest,
    ...(place === '' ? {} : { location: place }),
    ...(reservationID === undefined || isNamed ? {} : { reservationID }),
    ...(source ? { source } : {}),
    reclaimPolicy: claim.reclaim ?? 'Delete',
  })
  const requestInFlight = { sender: deps.identity, sentAt: deps.now().toISOString() }
  // What the cloud may still grant for an earlier wish is nobody's: the sweep gives it back.
  const dropped = isNamed ? { reservationID: undefined } : {}
  return deps.records.writeStatus(current, { phase: 'Requested', requestInFlight, ...dropped })
}

/** What a new record says of a claim, and of the address in stock that it begins with. */
export function specOf(claim: Claim, chosen: ElasticIP | undefined): Omit<ElasticIP['spec'], 'claimRef'> {
  const location = claim.location ?? chosen?.spec.location
  const source = sourceOf(claim) ?? (chosen && ({ name: chosen.metadata.name, type: 'WarmPool' } as const))
  return {
    ...(location === undefined ? {} : { location }),
    reclaimPolicy: claim.reclaim ?? 'Delete',
    ...(source ? { source } : {}),
  }
}

function sourceOf({ elasticIP }: Claim): ElasticIP['spec']['source'] {
  return elasticIP === undefined ? undefined : { name: elasticIP, type: 'Provisioned' }
}

/** An address that somebody else lends, or the Service's own, where the Service now asks for the other. */
function another(record: ElasticIP, { elasticIP }: Claim): string | undefined {
  const { address } = record.status ?? {}
  const lender = provisionedSourceOf(record)
  if (address === undefined || lender === elasticIP) return undefined
  const kept = lender === undefined ? address : `${address} of ElasticIP ${lender}`
  const asked = elasticIP === undefined ? 'no ElasticIP is named' : `ElasticIP ${elasticIP} is named`
  const how = `set annotation ${elasticIPAnnotation} ${lender === undefined ? 'to nothing' : `to ${lender}`}`
  return `${kept} is kept for it, and ${asked}; ${how}, or give it back: kubectl delete eip ${record.metadata.name}`
}

/** An address that waits for its Service, in another place than the Service now asks for. */
function elsewhere(record: ElasticIP, { location }: Claim): string | undefined {
  const { address } = record.status ?? {}
  const place = record.spec.location
  if (!isWaiting(record) || address === undefined || location === undefined || place === undefined) return undefined
  if (place === location) return undefined
  const how = `change that to ${place}, or give the address back: kubectl delete eip ${record.metadata.name}`
  return `${address} is kept for it in ${place}, and it is to have one in ${location}; ${how}`
}

function isWaiting(record: ElasticIP): boolean {
  return phaseOf(record) === 'Released' || (phaseOf(record) === 'Reserved' && isUnbound(record))
}

/** The address of a record that has one, kept or on its way back as it may be; undefined when there is none to keep. */
async function keep(deps: ClaimDeps, record: ElasticIP): Promise<ClaimResult | undefined> {
  const held = heldAddress(record)
  if (held !== undefined) return { kind: 'held', record, address: held }
  const phase = phaseOf(record)
  const address = record.status?.address
  const stillOurs = phase === 'Released' || (phase === 'Releasing' && !record.status?.deletionRequestedAt)
  if (!stillOurs || address === undefined || isBeingRemoved(record)) return undefined
  const said = { reason: 'Claimed', message: 'its Service is not stored yet', now: deps.now() }
  const stored = await deps.records.writeStatus(record, {
    phase: 'Reserved',
    conditions: [assigned('Unknown', said)],
  })
  return { kind: 'held', record: stored, address }
}

/** Whether the record took what it now names for an earlier wish: that is being put back, and must not be used before. */
async function isOnItsWayBack(deps: ClaimDeps, record: ElasticIP, { elasticIP }: Claim): Promise<boolean> {
  if (elasticIP === undefined || record.spec.source?.name === elasticIP) return false
  const source = await deps.records.get(elasticIP)
  return source !== undefined && isClaimedBy(source, record)
}
