import { isConflict, isNotFound } from '../../kube/errors.ts'
import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isAvailableFor, isClaimedBy, unavailableReason } from '../record/source.ts'
import type { WarmCandidates } from './warm-candidates.ts'

export type SourceDeps = Pick<LedgerDeps, 'records'> & { warmCandidates: WarmCandidates }

/** The record as it is stored now, with the source that it claimed, if any; or why it cannot have the one it names. */
export type SourceClaim = { record: ElasticIP; source?: ElasticIP } | { record: ElasticIP; reason: string }

/**
 * Claims an available address for the record of a Service: the provisioned one that it names, else a warm one, if any is
 * left. First the record names its source, then the source names its record, each by compare-and-swap. So one record at
 * most gets the address, and a crash in between leaves a trace on both sides.
 *
 * Takes no signal: this is part of a claim that writes what it got, whatever its caller's deadline (see claim.ts).
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
  for (let source = preferred ?? (await deps.records.get(name)); ; source = await deps.records.get(name)) {
    const claimed = source && (await tryToClaim(deps, record, source))
    if (claimed) return { record, source: claimed }
    const reason = unavailableReason(source, { name, key })
    if (reason !== undefined) return { record, reason }
  }
}

async function claimWarm(deps: SourceDeps, record: ElasticIP, preferred: ElasticIP | undefined): Promise<SourceClaim> {
  const { source: sourceRef, location = '' } = record.spec
  let current = record
  let source = preferred ?? (sourceRef ? await deps.records.get(sourceRef.name) : undefined)
  for (;;) {
    const claimed = source && (await tryToClaim(deps, current, source))
    if (claimed) return { record: current, source: claimed }
    source = deps.warmCandidates.pick(location)
    current = await setSource(deps, current, source)
    if (!source) return { record: current }
  }
}

/** Writes on an available address which record claims it; undefined when another record claimed it first. */
async function tryToClaim(deps: SourceDeps, record: ElasticIP, source: ElasticIP): Promise<ElasticIP | undefined> {
  if (isClaimedBy(source, record)) return source.status?.address === undefined ? undefined : source
  const { claimRef } = record.spec
  const { uid } = record.metadata
  if (!isAvailableFor(claimKey(record), source) || !claimRef || uid === undefined) return undefined
  const { namespace, name } = claimRef
  try {
    return await deps.records.writeSpec(source, { ...source.spec, claimRef: { namespace, name, elasticIPUID: uid } })
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined
    throw error
  }
}

async function setSource(deps: SourceDeps, record: ElasticIP, source: ElasticIP | undefined): Promise<ElasticIP> {
  const { source: sourceRef, ...spec } = record.spec
  if (sourceRef?.name === source?.metadata.name) return record
  return deps.records.writeSpec(
    record,
    source ? { ...spec, source: { name: source.metadata.name, type: 'WarmPool' } } : spec,
  )
}

/** Ends the claim on an address that no record uses: it is available again. */
export async function makeAvailable(
  deps: Pick<LedgerDeps, 'records'>,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const current =
    phaseOf(source) === 'Bound' ? await deps.records.writeStatus(source, { phase: 'Available' }, { signal }) : source
  const { claimRef: _former, ...spec } = current.spec
  await deps.records.writeSpec(current, spec, { signal })
}
