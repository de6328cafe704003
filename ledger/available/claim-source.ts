import { isConflict, isNotFound, resultUnless } from '../../kube/errors.ts'
import type { Key } from '../../kube/objects.ts'
import type { IpFamily } from '../../lib/ip-address.ts'
import { AddressInUse, findUsers, type UsedAddress } from '../record/address-use.ts'
import { claimKey, type ElasticIP, familyOf, phaseOf, recordName, addressKeyOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import {
  claimRefOf,
  isAvailableFor,
  isClaimedBy,
  isKeptForService,
  unavailableReason,
  hasSource,
} from '../record/source.ts'
import { randomInt } from 'node:crypto'
import { sourceMarks, transferMarks } from '../record/marks.ts'
import { elasticIPAnnotation } from '../record/names.ts'
import { stayInUse } from '../record/records.ts'

export type SourceDeps = Pick<LedgerDeps, 'records' | 'possibleUsers'> & { warmCandidates: WarmCandidates }

/** The current record, with the source that it claimed, if any; or why it cannot have the source that it names. */
export type SourceClaim = { record: ElasticIP; source?: ElasticIP } | { record: ElasticIP; reason: string }

/**
 * Claims an available address for a Service's record: the provisioned one that it names, else a warm one, if any is
 * left. The record names its source first, then the source names the record, each by compare-and-swap. So at most one
 * record gets the address, and a crash in between leaves a trace.
 *
 * Takes no signal: the claim must store what it got even after its caller's deadline (see claim.ts).
 */
export function claimSource(
  deps: SourceDeps,
  record: ElasticIP,
  preferred: ElasticIP | undefined,
): Promise<SourceClaim> {
  return record.spec.source?.type === 'Provisioned'
    ? claimProvisioned(deps, record, preferred)
    : claimWarm(deps, record, preferred)
}

async function claimProvisioned(
  deps: SourceDeps,
  record: ElasticIP,
  preferred: ElasticIP | undefined,
): Promise<SourceClaim> {
  const name = record.spec.source?.name ?? ''
  const key = claimKey(record) ?? ''
  const family = familyOf(record)
  for (let source = preferred ?? (await deps.records.get(name)); ; source = await deps.records.get(name)) {
    const inUse = source && (await findOtherUsers(deps, { source, record }))
    const claimed = source && !inUse && (await tryToClaim(deps, record, source))
    if (claimed) return { record, source: claimed }
    const reason = inUse
      ? await describeUse(deps, inUse, { name, key })
      : unavailableReason(source, { name, key, family })
    if (reason !== undefined) return { record, reason }
  }
}

async function claimWarm(deps: SourceDeps, record: ElasticIP, preferred: ElasticIP | undefined): Promise<SourceClaim> {
  const { source: sourceRef, location = '' } = record.spec
  const family = familyOf(record)
  let current = record
  let source = preferred ?? (sourceRef ? await deps.records.get(sourceRef.name) : undefined)
  const used: ElasticIP[] = []
  try {
    for (;;) {
      const fitting = source && familyOf(source) === family ? source : undefined
      const isUsed = fitting && (await findOtherUsers(deps, { source: fitting, record: current }))
      if (isUsed) used.push(fitting)
      const claimed = fitting && !isUsed && (await tryToClaim(deps, current, fitting))
      if (claimed) return { record: current, source: claimed }
      source = deps.warmCandidates.pick({ location, family })
      current = await setSource(deps, current, source)
      if (!source) return { record: current }
    }
  } catch (error) {
    // The API server did not answer, or another process wrote the record: this one was perhaps not claimed.
    if (source) used.push(source)
    throw error
  } finally {
    // The users may let go of an address without a change to its record, so the next claim tries it again.
    for (const one of used) deps.warmCandidates.unpick(one)
  }
}

/** Checks with live reads whether anything but the record's Service shows or holds an available address. */
async function findOtherUsers(
  deps: Pick<SourceDeps, 'possibleUsers'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
): Promise<AddressInUse | undefined> {
  const { address, reservationID } = source.status ?? {}
  // If the record has claimed the source, this check has passed before. An address that does not exist yet has no users.
  if (address === undefined || isClaimedBy(source, record)) return undefined
  const names = [source.metadata.name, record.metadata.name]
  const used = { address, reservationID }
  return inUseBy(deps, { used, key: claimKey(record), names, written: record }, new AbortController().signal)
}

type Use = { used: UsedAddress; key: Key | undefined; names: string[]; written?: ElasticIP }

/** The error for claiming an address that others use; undefined if it has no other users. */
async function inUseBy(
  deps: Pick<LedgerDeps, 'possibleUsers'>,
  { used, key, names, written }: Use,
  signal: AbortSignal,
): Promise<AddressInUse | undefined> {
  const users = findUsers(used, await deps.possibleUsers(signal, written), { service: key, records: names })
  return users.length === 0 ? undefined : new AddressInUse(used, users)
}

/** Why a Service cannot have a named address that is in use. Another Service may have claimed it since we read it. */
async function describeUse(
  deps: Pick<LedgerDeps, 'records'>,
  inUse: AddressInUse,
  { name, key }: { name: string; key: Key },
): Promise<string> {
  return unavailableReason(await deps.records.get(name), { name, key }) ?? inUse.message
}

/** Why a Service cannot have the address that it requests by name: as its record says, or because others use it. */
export async function findObstacle(
  deps: Pick<LedgerDeps, 'records' | 'possibleUsers'>,
  source: ElasticIP | undefined,
  { name, key, family, signal }: { name: string; key: Key; family: IpFamily; signal: AbortSignal },
): Promise<string | undefined> {
  const reason = unavailableReason(source, { name, key, family })
  if (reason !== undefined) return reason
  const { address, reservationID } = source?.status ?? {}
  const names = [name, recordName(key)]
  const inUse = await inUseBy(deps, { used: { address, reservationID }, key, names }, signal)
  return inUse && describeUse(deps, inUse, { name, key })
}

/** Marks an available address as claimed by this record; undefined if another record claimed it first. */
async function tryToClaim(deps: SourceDeps, record: ElasticIP, source: ElasticIP): Promise<ElasticIP | undefined> {
  if (isClaimedBy(source, record)) return source.status?.address === undefined ? undefined : source
  const { claimRef } = record.spec
  const { uid } = record.metadata
  if (!isAvailableFor(claimKey(record), source) || !claimRef || uid === undefined) return undefined
  const spec = { ...source.spec, claimRef: claimRefOf(record, isKeptForService(source)) }
  const isLost = (error: unknown) => isConflict(error) || isNotFound(error)
  return resultUnless(isLost, deps.records.writeSpec(source, spec))
}

async function setSource(deps: SourceDeps, record: ElasticIP, source: ElasticIP | undefined): Promise<ElasticIP> {
  const { source: sourceRef, ...spec } = record.spec
  if (sourceRef?.name === source?.metadata.name) return record
  return deps.records.writeSpec(
    record,
    source ? { ...spec, source: { name: source.metadata.name, type: 'WarmPool' } } : spec,
  )
}

/** Ends the claim on an address that no record uses, which makes it available again. */
export async function makeAvailable(
  deps: Pick<LedgerDeps, 'records'>,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const current =
    phaseOf(source) === 'Bound' ? await deps.records.writeStatus(source, { phase: 'Available' }, { signal }) : source
  const { claimRef, ...spec } = current.spec
  // The Service that an operator named stays the only one that may claim the address.
  const kept = claimRef?.setByOperator ? { claimRef: { namespace: claimRef.namespace, name: claimRef.name } } : {}
  await deps.records.writeSpec(current, { ...spec, ...kept }, { signal })
}

/** The warm addresses that this process may try to claim, as its cache of the records shows them. */
export type WarmCandidates = {
  /** An address that seems to be available; this process picks it again only after its record has changed. */
  pick(of: { location: string; family: IpFamily }): ElasticIP | undefined
  /** Puts back a candidate that was not tried after all, so that `pick` may choose it again. */
  unpick(source: ElasticIP): void
}

/** Picks among the available warm addresses at random, so that two replicas seldom try the same one. */
export function warmCandidates(listAvailable: () => ElasticIP[]): WarmCandidates {
  const picked = new Map<string, string | undefined>()
  return {
    pick({ location, family }) {
      const isNew = ({ metadata }: ElasticIP) => picked.get(metadata.name) !== metadata.resourceVersion
      const candidates = listAvailable().filter(
        (record) => record.spec.location === location && familyOf(record) === family && isNew(record),
      )
      const source = candidates[randomInt(Math.max(1, candidates.length))]
      if (source) picked.set(source.metadata.name, source.metadata.resourceVersion)
      return source
    },
    unpick: ({ metadata }) => void picked.delete(metadata.name),
  }
}

type Deps = Pick<LedgerDeps, 'records' | 'possibleUsers'>

/**
 * Ends the claim on an address whose record is deleted. Every claim checks for other users, so only a source with the
 * policy `Delete` that a Service used needs care. While others use the address it stays claimed, and this throws
 * AddressInUse. But if one of them requests this ElasticIP by name, the source becomes available, and that Service
 * claims it again.
 *
 * `key` is the Service whose record is deleted, if the caller acts for it.
 */
export async function reclaimSource(
  deps: Deps,
  { source, key }: { source: ElasticIP; key?: Key | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { name } = source.metadata
  const isToBeReleased = phaseOf(source) === 'Bound' && source.spec.reclaimPolicy === 'Delete'
  if (!isToBeReleased) return makeAvailable(deps, source, signal)
  const used = { address: source.status?.address, reservationID: source.status?.reservationID }
  const error = await inUseBy(deps, { used, key, names: [name] }, signal)
  if (!error) {
    await deps.records.writeStatus(source, { phase: 'Releasing', message: 'its Service no longer exists' }, { signal })
  } else if (error.users.some(({ service }) => service?.metadata.annotations?.[elasticIPAnnotation] === name)) {
    await makeAvailable(deps, source, signal)
  } else await stayInUse(deps, { record: source, error }, signal)
}

/**
 * Returns a provisioned address to its ElasticIP and removes the Service's record. Before that, it records on the
 * source whether a Service used the address, which decides whether the reclaim policy `Delete` applies.
 */
export async function returnToSource(
  deps: Deps & Pick<LedgerDeps, 'log'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const named = await deps.records.get(record.spec.source?.name ?? '', { signal })
  const source = named && isClaimedBy(named, record) && hasSource(record, named) ? named : undefined
  const wasUsed = source && record.spec.claimRef?.uid !== undefined && phaseOf(source) === 'Available'
  const current = wasUsed ? await deps.records.writeStatus(source, { phase: 'Bound' }, { signal }) : source
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address }, 'address returned to its ElasticIP')
  try {
    if (current) await reclaimSource(deps, { source: current, key: claimKey(record) }, signal)
  } catch (error) {
    // The record is deleted, and the status of the ElasticIP says why it stays: its own controller looks again.
    if (!(error instanceof AddressInUse)) throw error
  }
}

/**
 * Restores on an available address the claim of the record that holds it, after another writer overwrote the claim or
 * began a release.
 */
export async function restoreClaim(
  deps: Pick<LedgerDeps, 'records'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { claimRef: former, ...spec } = source.spec
  // The API server refuses a claimRef that changes its Service, so the wrong one is removed first.
  const isOther = former !== undefined && claimKey(source) !== claimKey(record)
  const current = isOther ? await deps.records.writeSpec(source, spec, { signal }) : source
  const claimRef = claimRefOf(record, !isOther && former?.setByOperator === true)
  const claimed = await deps.records.writeSpec(current, { ...spec, claimRef }, { signal })
  const isEnding = phaseOf(claimed) === 'Releasing'
  if (isEnding) await deps.records.writeStatus(claimed, { phase: 'Available', message: null }, { signal })
}

/**
 * Transfers a warm address to its Service for good: changes the marks at the provider, then removes the warm record.
 * Until then two records have the reservation, and no other Service can claim the warm one.
 */
export async function transferWarm(
  deps: Pick<LedgerDeps, 'records' | 'cloud' | 'scheme' | 'log'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  // The record has the id even if the source's status was emptied.
  const { reservationID = '', address } = record.status ?? {}
  // The provider may have reused the id for another order, so the marks must be the warm record's.
  const warm = { id: reservationID, marks: sourceMarks(deps.scheme, source.metadata.uid ?? '') }
  await deps.cloud.mark(warm, transferMarks(deps.scheme, addressKeyOf(record) ?? ''), signal)
  await deps.records.remove(source, { signal })
  await clearSource(deps, record, signal)
  deps.log.info({ record: record.metadata.name, address, from: source.metadata.name }, 'address transferred')
}

/** Removes the name of its source from a record: the source is deleted, or unrelated to the record. */
export function clearSource(
  deps: Pick<LedgerDeps, 'records'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<ElasticIP> {
  const { source: _former, ...spec } = record.spec
  return deps.records.writeSpec(record, spec, { signal })
}
