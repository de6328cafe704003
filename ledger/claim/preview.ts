import { type SourceDeps, findObstacle } from '../available/claim-source.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { newRecord } from '../record/records.ts'
import { type ClaimSpec, recordSpecOf } from './claim-spec.ts'
import type { LimitCheck } from './limits.ts'

export type PreviewDeps = SourceDeps & { overLimit: LimitCheck }

/** The address where it is known beforehand, or why there will be none. */
export type ClaimPreview = { address?: string | undefined; reason?: string | undefined }

/** What a claim of a Service without a record would come to. Writes nothing. */
export async function previewClaim(
  deps: PreviewDeps,
  claim: ClaimSpec & { key: string },
  signal: AbortSignal,
): Promise<ClaimPreview> {
  const { key, elasticIP, location } = claim
  const overLimit = (source: ElasticIP | undefined) =>
    deps.overLimit(newRecord(key, recordSpecOf(claim, source), { identity: '' }), signal)
  if (elasticIP === undefined) {
    const source = deps.warmCandidates.pick(location)
    if (source) deps.warmCandidates.unpick(source)
    return { reason: await overLimit(source) }
  }
  const source = await deps.records.get(elasticIP, { signal })
  const reason = (await findObstacle(deps, source, { name: elasticIP, key, signal })) ?? (await overLimit(source))
  return reason === undefined ? { address: source?.status?.address } : { reason }
}
