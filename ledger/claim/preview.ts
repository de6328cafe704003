import type { Claim, ClaimDeps } from './claim.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { newRecord } from '../record/records.ts'
import { unavailableReason } from '../record/source.ts'
import { specOf } from './stored.ts'

/** What would come of a claim of a Service that has no record: an address that is known beforehand, or why there is none. */
export async function previewClaim(
  deps: Pick<ClaimDeps, 'records' | 'warmCandidates' | 'overLimit'>,
  claim: Claim,
  signal: AbortSignal,
): Promise<{ address?: string | undefined; why?: string | undefined }> {
  const { key, elasticIP, location } = claim
  if (elasticIP === undefined) {
    const source = deps.warmCandidates.pick(location)
    if (source) deps.warmCandidates.unpick(source)
    return { why: await counted(deps, { claim, source }, signal) }
  }
  const source = await deps.records.get(elasticIP, { signal })
  const why = unavailableReason(source, { name: elasticIP, key }) ?? (await counted(deps, { claim, source }, signal))
  return why === undefined ? { address: source?.status?.address } : { why }
}

function counted(
  deps: Pick<ClaimDeps, 'overLimit'>,
  { claim, source }: { claim: Claim; source: ElasticIP | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  return deps.overLimit(newRecord(claim.key, specOf(claim, source), ''), signal)
}
