import type { Reservation } from '../../clouds/ports/cloud.ts'
import { clearSource, returnToSource } from '../available/claim-source.ts'
import type { ClusterState } from '../identity/heartbeats.ts'
import type { Identity } from '../identity/identity.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { type Key, keyOf } from '../../kube/objects.ts'
import { type ElasticIP, type ReclaimPolicy, phaseOf, recordName, reservationIdOf } from '../record/elastic-ip.ts'
import { findReservation, markRetention } from '../record/find-reservation.ts'
import { stayInUse, wasHeld } from '../record/records.ts'
import { assigned } from '../record/status.ts'
import { planDeletion, deleteReservation, markForDeletion, moveToReleaseRecord } from './delete-reservation.ts'
import { type HeirFacts, heirOf, passOn } from './heir.ts'
import { adoptionEndMarks, lastingMarks } from '../record/marks.ts'
import { hasReservationOf, isClaimedBy, isSource, isWarm } from '../record/source.ts'
import { defined } from '../../lib/json.ts'

/** The dependencies for releasing an address that no Service has claimed. */
export type SourceReleaseDeps = LedgerDeps &
  Pick<Identity, 'clusterState'> & {
    want: HeirFacts['want']
    /** The default policy, for an address whose Service states none. */
    reclaimPolicy: ReclaimPolicy
  }

export type ReleaseDeps = SourceReleaseDeps & {
  /** Reads live, past every cache, whether the Service of a record still wants the record's address. */
  isStillWanted: (record: ElasticIP, signal: AbortSignal) => Promise<boolean>
  /**
   * Unassigns the address of a reservation from its machine. Absent if the provider assigns none, or the caller already
   * did.
   */
  unassign?: ((reservation: Reservation, signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * The result of a release. `released`: the deletion is sent and the record is removed. `kept`: the Service wants the
 * address after all. `found`: the record had no address, and has one now; look again. `request-in-flight`: a request
 * may still buy the address; try again later. `unchecked`: no sweep has checked yet whether another cluster uses our
 * id; try again soon. `waiting`: we may be a copy of a live cluster; try again later. `unshared`: the Service that
 * should have got it no longer uses it; look again. `passedTo`: this Service has it now.
 */
export type ReleaseResult =
  'released' | 'kept' | 'found' | 'request-in-flight' | 'unchecked' | 'waiting' | 'unshared' | { passedTo: Key }

export type ReleaseOptions = { record: ElasticIP; isAnnounced?: boolean }

/**
 * Releases the address of a record and removes the record. Each step is recorded before the next, so that any process
 * that finds the record knows how far the release came. Once `deletionRequestedAt` is written, no Service may get the
 * address, even if the call that followed was lost. While other Services announce the address (`isAnnounced`), no
 * reservation is deleted.
 */
export async function release(
  deps: ReleaseDeps,
  { record, isAnnounced = false }: ReleaseOptions,
  signal: AbortSignal,
): Promise<ReleaseResult> {
  // 1. A request in flight may still buy what no list shows: its result must reach the record first.
  if (deps.requestsInFlight.isInFlight(record)) return 'request-in-flight'
  if (await removeWithAll(deps, record, signal)) return 'released'
  // 2. Mark the record, by compare-and-swap: from now on a claim that wants the address must change the record.
  const isMarked = phaseOf(record) === 'Releasing'
  const marked = isMarked ? record : await markUnassigned(deps, record, { signal, phase: 'Releasing' })
  // 3. Read the Service live. Once its deletion was requested, an address cannot be kept, even if a Service wants it.
  if (!marked.status?.deletionRequestedAt && (await deps.isStillWanted(marked, signal))) {
    await cancelRelease(deps, marked, signal)
    return 'kept'
  }
  // 4. A provisioned address belongs to an operator: return it to its ElasticIP.
  if (marked.spec.source?.type === 'Provisioned') {
    await returnToSource(deps, marked, signal)
    return 'released'
  }
  // 5. In a copy of another cluster, the reservation belongs to the original.
  const pending = pendingCheck(deps.clusterState())
  if (pending) return pending
  // 6. Delete the warm record before the reservation, or another Service could claim it.
  const detached = await detachFromSource(deps, marked, signal)
  return releaseToCloud(deps, { marked: detached, written: isMarked ? undefined : detached, isAnnounced }, signal)
}

/** Releases an available address that no Service has claimed. */
export async function releaseSource(
  deps: SourceReleaseDeps,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<ReleaseResult> {
  if (deps.requestsInFlight.isInFlight(source)) return 'request-in-flight'
  if (await removeWithAll(deps, source, signal)) return 'released'
  const pending = pendingCheck(deps.clusterState())
  if (pending) return pending
  const isMarked = phaseOf(source) === 'Releasing'
  const marked = isMarked ? source : await deps.records.writeStatus(source, { phase: 'Releasing' }, { signal })
  return releaseToCloud(deps, { marked, written: isMarked ? undefined : marked }, signal)
}

/**
 * Removes only a retained record if the CRD of all records is being deleted. Deleting such a record alone releases its
 * address. But deleting all of them, as with a manifest, expresses no decision about any.
 */
async function removeWithAll(deps: SourceReleaseDeps, record: ElasticIP, signal: AbortSignal): Promise<boolean> {
  const { metadata, spec, status } = record
  const isRetained = spec.reclaimPolicy === 'Retain' && !isWarm(record) && status?.deletionRequestedAt === undefined
  if (metadata.deletionTimestamp === undefined || !isRetained) return false
  if (!(await deps.records.areDeleted({ signal }))) return false
  if (deps.clusterState().kind !== 'ours') return false
  await markRecordRetained(deps, record, signal)
  await deps.records.remove(record, { signal })
  const facts = { record: metadata.name, address: status?.address, reservation: status?.reservationID }
  deps.log.warn(facts, 'record removed with the definition of all ElasticIPs; its reservation stays')
  return true
}

/** Marks the reservation of a record as retained at the provider, because no sweep may have done so yet. */
async function markRecordRetained(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationIdOf(record)
  const reservation = id === undefined ? undefined : await deps.cloud.reservation(id, signal)
  if (reservation) await markRetention(deps, { record, reservation, retained: true }, signal)
}

/** Throws if another cluster uses our id; returns what a release must wait for, if anything. */
function pendingCheck(state: ClusterState): 'unchecked' | 'waiting' | undefined {
  if (state.kind === 'foreign') throw new Error(`not released: ${state.reason}`)
  return state.kind === 'ours' ? undefined : state.kind
}

/**
 * Removes the warm record of a reservation before the reservation is deleted, or another Service could claim it
 * afterwards. Returns the record as it is then: the only one with the reservation.
 */
export async function detachFromSource(
  deps: Pick<LedgerDeps, 'records'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<ElasticIP> {
  const { source: sourceRef } = record.spec
  if (sourceRef?.type !== 'WarmPool') return record
  const source = await deps.records.get(sourceRef.name, { signal })
  if (source && isClaimedBy(source, record) && hasReservationOf(record, source)) {
    await deps.records.remove(source, { signal })
  }
  return clearSource(deps, record, signal)
}

/** A Releasing record; also as `written` if this release has just written it. */
type Marked = { marked: ElasticIP; written: ElasticIP | undefined }

/**
 * Records that the deletion is requested, requests it, and leaves a release record until the provider has deleted the
 * reservation. Throws AddressInUse while the address is shown: then the record stays too, and names the users. A
 * reservation that is not ours to delete is kept, and the record is deleted.
 */
async function releaseToCloud(
  deps: SourceReleaseDeps & Pick<ReleaseDeps, 'unassign'>,
  { marked, written, isAnnounced = false }: Marked & { isAnnounced?: boolean },
  signal: AbortSignal,
): Promise<ReleaseResult> {
  const reservationID = reservationIdOf(marked) ?? (await findReservation(deps, marked, signal))?.id
  const found = reservationID === undefined ? undefined : await deps.cloud.reservation(reservationID, signal)
  const of = { marked, written, found }
  const kept = reservationID === undefined ? undefined : await keepReservation(deps, { ...of, reservationID }, signal)
  if (kept !== undefined) return kept
  if (isAnnounced) return 'unshared'
  const { deletionRequestedAt, address = found?.address } = marked.status ?? {}
  const known = defined({ reservationID, address })
  // The status was emptied, or the answer to its order was lost: nothing could check whether the address is announced.
  if (deletionRequestedAt === undefined && address !== marked.status?.address) {
    // Nor was it known that there was an address to retain. A single write records both: a Releasing record would be deleted.
    const isHeld = found !== undefined && wasHeld(marked, found)
    const retained = isHeld && isRetained(marked) ? ({ phase: 'Released' } as const) : undefined
    const complete = await deps.records.writeStatus(marked, { ...known, ...retained }, { signal })
    if (retained) await retain(deps, complete, signal)
    return 'found'
  }
  if (found) await markForDeletion(deps, found, signal)
  const requested = { ...known, deletionRequestedAt: deletionRequestedAt ?? deps.now().toISOString() }
  const stored = await deps.records.writeStatus(marked, requested, { signal })
  // Another load balancer setting left it on a machine, or a person assigned it. No Service can get it now.
  if (found?.holder !== undefined) await deps.unassign?.(found, signal)
  if ((await deleteReservation(deps, { record: stored, found }, signal)) === 'deleting')
    await moveToReleaseRecord(deps, stored, signal)
  return 'released'
}

/** Whether the address of a record outlives its Service, unless a person deletes the record. */
function isRetained(record: ElasticIP): boolean {
  return !isSource(record) && record.spec.reclaimPolicy === 'Retain' && record.metadata.deletionTimestamp === undefined
}

/** Checks live whether the reservation of a record stays, and if so has the record removed; undefined if both go. */
async function keepReservation(
  deps: SourceReleaseDeps,
  { marked, written, ...of }: Marked & { reservationID: string; found: Reservation | undefined },
  signal: AbortSignal,
): Promise<ReleaseResult | undefined> {
  const { reservationID, found } = of
  const { want } = deps
  // A record that passes on has given its address up: the reservation has it.
  const known = defined({ reservationID, address: marked.status?.address ?? found?.address })
  const record = { ...marked, status: { ...marked.status, ...known } }
  const all = await deps.possibleUsers(signal, written)
  const recordOf = (key: Key) => all.records.find(({ metadata }) => metadata.name === recordName(key))
  const heir = heirOf(record, { services: all.services, recordOf, want })
  const plan = planDeletion({ record: marked, ...of, all, heir }, deps)
  switch (plan.do) {
    case 'delete':
      return undefined
    case 'pass-on':
      await passOn(deps, { record, ...plan, reclaimPolicy: isRetained(marked) ? 'Retain' : deps.reclaimPolicy }, signal)
      return { passedTo: keyOf(plan.heir) }
    case 'keep': {
      if (plan.endsAdoption && found)
        await deps.cloud.mark({ id: reservationID, marks: lastingMarks(found.marks) }, adoptionEndMarks, signal)
      await deps.records.remove(marked, { signal })
      const facts = { record: marked.metadata.name, address: marked.status?.address, reservation: reservationID }
      deps.log.info({ ...facts, reason: plan.reason }, 'record removed; its reservation stays')
      return 'released'
    }
    case 'wait':
      return stayInUse(deps, { record: marked, error: plan.error }, signal)
  }
}

/** Starts a release that continues when the address is no longer announced. A claim of its Service ends it. */
export async function postponeRelease(
  deps: LedgerDeps,
  { record, reason }: { record: ElasticIP; reason: string },
  signal: AbortSignal,
): Promise<void> {
  await markUnassigned(deps, record, { phase: 'Releasing', message: reason, signal })
}

function markUnassigned(
  deps: LedgerDeps,
  record: ElasticIP,
  {
    phase,
    message = 'no Service wants it',
    signal,
  }: { phase: 'Releasing' | 'Released'; message?: string; signal: AbortSignal },
): Promise<ElasticIP> {
  const facts = { reason: phase, message, now: deps.now() }
  return deps.records.writeStatus(record, { phase, conditions: [assigned('False', facts)] }, { signal })
}

async function cancelRelease(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const { address } = record.status ?? {}
  const isBound = address !== undefined && record.spec.claimRef?.uid !== undefined
  const unbound = address === undefined ? 'Requested' : 'Reserved'
  const facts = { reason: 'Kept', message: 'its Service wants it after all', now: deps.now() }
  const phase = isBound ? 'Bound' : unbound
  const conditions = [assigned(isBound ? 'True' : 'Unknown', facts)]
  await deps.records.writeStatus(record, { phase, conditions }, { signal })
}

/** Retains the address of a record whose Service is deleted; the next Service of the same name gets it again. */
export async function retain(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const { uid: _former, ...claimRef } = record.spec.claimRef ?? { namespace: '', name: '' }
  const spec = { ...record.spec, claimRef, reclaimPolicy: 'Retain' } as const
  const unbound = await deps.records.writeSpec(record, spec, { signal })
  await markUnassigned(deps, unbound, { phase: 'Released', signal })
}
