import type { Claim, ClaimParts } from './claim.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { newRecord } from './records.ts'
import { whyNot } from './stock.ts'
import { specOf } from './stored.ts'

/** What would come of a claim of a Service that has no record: an address that is known beforehand, or why there is none. */
export async function foresee(
  parts: Pick<ClaimParts, 'records' | 'shelf' | 'overLimit'>,
  claim: Claim,
  signal: AbortSignal,
): Promise<{ address?: string | undefined; why?: string | undefined }> {
  const { key, elasticIP, location } = claim
  if (elasticIP === undefined) {
    const lot = parts.shelf.pick(location)
    if (lot) parts.shelf.putBack(lot)
    return { why: await counted(parts, { claim, lot }, signal) }
  }
  const lot = await parts.records.get(elasticIP, { signal })
  const why = whyNot(lot, { name: elasticIP, key }) ?? (await counted(parts, { claim, lot }, signal))
  return why === undefined ? { address: lot?.status?.address } : { why }
}

function counted(
  parts: Pick<ClaimParts, 'overLimit'>,
  { claim, lot }: { claim: Claim; lot: ElasticIP | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  return parts.overLimit(newRecord(claim.key, specOf(claim, lot), ''), signal)
}
