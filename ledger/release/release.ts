import type { LedgerDeps } from '../claim/ask.ts'
import type { RequestsInFlight } from '../record/requests-in-flight.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import { findReservation } from '../record/find-reservation.ts'
import { deleteReservation } from './delete-reservation.ts'
import { returnToSource, detachFromSource } from '../available/transfer.ts'
import { assigned } from '../record/records.ts'
import { moveToReleaseRecord } from './release-record.ts'

export type ReleaseDeps = LedgerDeps & {
  requestsInFlight: RequestsInFlight
  /** A live look, past every cache, at whether the Service of a record still wants the record's address. */
  stillWanted: (record: ElasticIP, signal: AbortSignal) => Promise<boolean>
}

export type ReleaseResult = {
  /** `gone`: the record, and the cloud was told. `kept`: its Service wants it after all. `going`: it may be being bought. */
  outcome: 'gone' | 'kept' | 'going'
}

/**
 * Gives the address of a record back to the cloud, and takes the record off the book.
 * Each step is written down before the next, so that whoever finds the record knows how far it went; once `returnedAt`
 * is written the address is nobody's, even if the call that followed was lost.
 */
export async function release(deps: ReleaseDeps, record: ElasticIP, signal: AbortSignal): Promise<ReleaseResult> {
  // A reserve that is under way may yet buy what no list shows: it has to reach the record first.
  if (deps.requestsInFlight.isInFlight(record)) return { outcome: 'going' }
  const marked = phaseOf(record) === 'Releasing' ? record : await unassign(deps, record, 'Releasing')
  if (!marked.status?.deletionRequestedAt && (await deps.stillWanted(marked, signal))) {
    await keepAssigned(deps, marked)
    return { outcome: 'kept' }
  }
  if (marked.spec.source?.type === 'Provisioned') {
    await returnToSource(deps, marked)
    return { outcome: 'gone' }
  }
  await toCloud(deps, await detachFromSource(deps, marked), signal)
  return { outcome: 'gone' }
}

/** Gives an address of the stock that nobody has taken back to the cloud. */
export async function releaseSource(
  deps: LedgerDeps & Pick<ReleaseDeps, 'requestsInFlight'>,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<'gone' | 'going'> {
  if (deps.requestsInFlight.isInFlight(source)) return 'going'
  const marked =
    phaseOf(source) === 'Releasing' ? source : await deps.records.writeStatus(source, { phase: 'Releasing' })
  await toCloud(deps, marked, signal)
  return 'gone'
}

/** What goes back is written down before it does, and watched until the cloud has it no more. */
async function toCloud(deps: LedgerDeps, marked: ElasticIP, signal: AbortSignal): Promise<void> {
  const reservationID = reservationIdOf(marked) ?? (await findReservation(deps, marked, signal))?.id
  const { deletionRequestedAt = deps.now().toISOString() } = marked.status ?? {}
  const returned = await deps.records.writeStatus(marked, { deletionRequestedAt, reservationID })
  if ((await deleteReservation(deps, returned, signal)) === 'going') await moveToReleaseRecord(deps, returned, signal)
}

function unassign(deps: LedgerDeps, record: ElasticIP, phase: 'Releasing' | 'Released'): Promise<ElasticIP> {
  const said = { reason: phase, message: 'no Service wants it', now: deps.now() }
  return deps.records.writeStatus(record, { phase, conditions: [assigned('False', said)] })
}

async function keepAssigned(deps: LedgerDeps, record: ElasticIP): Promise<void> {
  const { address } = record.status ?? {}
  const isBound = address !== undefined && record.spec.claimRef?.uid !== undefined
  const unbound = address === undefined ? 'Requested' : 'Reserved'
  const said = { reason: 'Kept', message: 'its Service wants it after all', now: deps.now() }
  await deps.records.writeStatus(record, {
    phase: isBound ? 'Bound' : unbound,
    conditions: [assigned(isBound ? 'True' : 'Unknown', said)],
  })
}

/** Keeps the address of a record whose Service went; a Service of the same name gets it again. */
export async function retain(deps: LedgerDeps, record: ElasticIP): Promise<void> {
  const { uid: _gone, ...claimRef } = record.spec.claimRef ?? { namespace: '', name: '' }
  const unbound = await deps.records.writeSpec(record, { ...record.spec, claimRef, reclaimPolicy: 'Retain' })
  await unassign(deps, unbound, 'Released')
}
