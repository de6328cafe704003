import type { Claimed } from './ask.ts'
import type { Claim, ClaimParts } from './claim.ts'
import { type ElasticIP, heldAddress, isUnbound, lenderOf, phaseOf, reservationOf } from './elastic-ip.ts'
import { elasticIPAnnotation } from './names.ts'
import { assigned, isLeaving } from './records.ts'
import { isTakenBy } from './stock.ts'

/**
 * What a record that is there already means for a claim of its Service: its answer, or that somebody has to be waited
 * for; undefined when the record has no answer yet, and whoever claims may go on with it.
 */
export async function answerStored(
  parts: ClaimParts,
  record: ElasticIP,
  claim: Claim,
): Promise<Claimed | 'busy' | undefined> {
  const other = another(record, claim) ?? elsewhere(record, claim)
  if (other !== undefined) return isWaiting(record) ? { kind: 'refused', why: other } : 'busy'
  const kept = await keep(parts, record)
  if (kept) return kept
  if (phaseOf(record) !== 'Requested' || isLeaving(record) || parts.asking.underWay(record)) return 'busy'
  return (await isOnItsWayBack(parts, record, claim)) ? 'busy' : undefined
}

/** Makes an unanswered record ours to ask about; whoever else tried at the same time meets a conflict. */
export async function takeUp(parts: ClaimParts, record: ElasticIP, claim: Claim): Promise<ElasticIP> {
  const isNamed = claim.elasticIP !== undefined
  const { from, location = '', reservationID, ...rest } = record.spec
  const place = reservationOf(record) === undefined ? (claim.location ?? location) : location
  const source = sourceOf(claim) ?? (from?.lent ? undefined : from)
  const current = await parts.records.writeSpec(record, {
    ...rest,
    ...(place === '' ? {} : { location: place }),
    ...(reservationID === undefined || isNamed ? {} : { reservationID }),
    ...(source ? { from: source } : {}),
    reclaimPolicy: claim.reclaim ?? 'Delete',
  })
  const asking = { by: parts.identity, since: parts.now().toISOString() }
  // What the cloud may still grant for an earlier wish is nobody's: the sweep gives it back.
  const dropped = isNamed ? { reservationID: undefined } : {}
  return parts.records.writeStatus(current, { phase: 'Requested', asking, ...dropped })
}

/** What a new record says of a claim, and of the address in stock that it begins with. */
export function specOf(claim: Claim, lot: ElasticIP | undefined): Omit<ElasticIP['spec'], 'claimRef'> {
  const location = claim.location ?? lot?.spec.location
  const from = sourceOf(claim) ?? (lot && { name: lot.metadata.name, lent: false })
  return {
    ...(location === undefined ? {} : { location }),
    reclaimPolicy: claim.reclaim ?? 'Delete',
    ...(from ? { from } : {}),
  }
}

function sourceOf({ elasticIP }: Claim): ElasticIP['spec']['from'] {
  return elasticIP === undefined ? undefined : { name: elasticIP, lent: true }
}

/** An address that somebody else lends, or the Service's own, where the Service now asks for the other. */
function another(record: ElasticIP, { elasticIP }: Claim): string | undefined {
  const { address } = record.status ?? {}
  const lender = lenderOf(record)
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
async function keep(parts: ClaimParts, record: ElasticIP): Promise<Claimed | undefined> {
  const held = heldAddress(record)
  if (held !== undefined) return { kind: 'held', record, address: held }
  const phase = phaseOf(record)
  const address = record.status?.address
  const stillOurs = phase === 'Released' || (phase === 'Releasing' && !record.status?.returnedAt)
  if (!stillOurs || address === undefined || isLeaving(record)) return undefined
  const said = { reason: 'Claimed', message: 'its Service is not stored yet', now: parts.now() }
  const stored = await parts.records.writeStatus(record, {
    phase: 'Reserved',
    conditions: [assigned('Unknown', said)],
  })
  return { kind: 'held', record: stored, address }
}

/** Whether the record took what it now names for an earlier wish: that is being put back, and must not be used before. */
async function isOnItsWayBack(parts: ClaimParts, record: ElasticIP, { elasticIP }: Claim): Promise<boolean> {
  if (elasticIP === undefined || record.spec.from?.name === elasticIP) return false
  const lot = await parts.records.get(elasticIP)
  return lot !== undefined && isTakenBy(lot, record)
}
