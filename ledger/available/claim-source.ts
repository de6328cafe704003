import { isConflict, isNotFound } from '../../kube/errors.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import { isAvailableFor, isClaimedBy, unavailableReason } from '../record/source.ts'

/** `lot`: the address that was taken; `record`: whose it is, as it is stored now. */
export type SourceClaim = { record: ElasticIP; source?: ElasticIP } | { record: ElasticIP; why: string }

/**
 * Takes an address out of the stock for the record of a Service: by name where it has chosen one, else a warm one, if
 * any is left. The record first says what it takes, then the stock says who took it, by compare-and-swap: so one record
 * at most has an address, and a crash in between leaves a trace on both sides.
 */
export function claimSource(deps: LedgerDeps, record: ElasticIP, offered: ElasticIP | undefined): Promise<SourceClaim> {
  return record.spec.source?.type === 'Provisioned'
    ? claimProvisioned(deps, record, offered)
    : claimWarm(deps, record, offered)
}

async function claimProvisioned(
  deps: LedgerDeps,
  record: ElasticIP,
  offered: ElasticIP | undefined,
): Promise<SourceClaim> {
  const name = record.spec.source?.name ?? ''
  const key = claimKey(record) ?? ''
  for (let source = offered ?? (await deps.records.get(name)); ; source = await deps.records.get(name)) {
    const taken = source && (await tryToClaim(deps, record, source))
    if (taken) return { record, source: taken }
    const why = unavailableReason(source, { name, key })
    if (why !== undefined) return { record, why }
  }
}

async function claimWarm(deps: LedgerDeps, record: ElasticIP, offered: ElasticIP | undefined): Promise<SourceClaim> {
  const { source: sourceRef, location = '' } = record.spec
  let current = record
  let source = offered ?? (sourceRef ? await deps.records.get(sourceRef.name) : undefined)
  for (;;) {
    const taken = source && (await tryToClaim(deps, current, source))
    if (taken) return { record: current, source: taken }
    source = deps.warmCandidates.pick(location)
    current = await setSource(deps, current, source)
    if (!source) return { record: current }
  }
}

/** Writes who takes an address, if it is still free; undefined when somebody was quicker. */
async function tryToClaim(deps: LedgerDeps, record: ElasticIP, source: ElasticIP): Promise<ElasticIP | undefined> {
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

async function setSource(deps: LedgerDeps, record: ElasticIP, source: ElasticIP | undefined): Promise<ElasticIP> {
  const { source: sourceRef, ...spec } = record.spec
  if (sourceRef?.name === source?.metadata.name) return record
  return deps.records.writeSpec(
    record,
    source ? { ...spec, source: { name: source.metadata.name, type: 'WarmPool' } } : spec,
  )
}

/** Writes on an address in stock who has it, where somebody wrote over that. */
export async function restoreClaim(
  deps: LedgerDeps,
  { source, record }: { source: ElasticIP; record: ElasticIP },
): Promise<void> {
  const { namespace = '', name = '' } = record.spec.claimRef ?? {}
  const claimRef = {
    namespace,
    name,
    ...(record.metadata.uid === undefined ? {} : { elasticIPUID: record.metadata.uid }),
  }
  await deps.records.writeSpec(source, { ...source.spec, claimRef })
}

/** Puts an address back into the stock that no record has, or that its record has no use for. */
export async function makeAvailable(deps: LedgerDeps, source: ElasticIP): Promise<void> {
  const current = phaseOf(source) === 'Bound' ? await deps.records.writeStatus(source, { phase: 'Available' }) : source
  const { claimRef: _gone, ...spec } = current.spec
  await deps.records.writeSpec(current, spec)
}
