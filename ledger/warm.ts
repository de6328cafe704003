import { isAlreadyExists } from '../kube/errors.ts'
import { type Claimed, ask } from './ask.ts'
import type { ClaimParts } from './claim.ts'
import { type ElasticIP, recordFinalizer } from './elastic-ip.ts'
import { warmLabel } from './names.ts'

/** Asks the cloud for an address of the warm pool; `busy` while another question for it may be under way. */
export async function reserveWarm(parts: ClaimParts, lot: ElasticIP): Promise<Claimed | 'busy'> {
  if (parts.asking.underWay(lot)) return 'busy'
  const budget = parts.budget()
  const asking = { by: parts.identity, since: parts.now().toISOString() }
  const asked = await parts.records.writeStatus(lot, { phase: 'Requested', asking })
  // Whoever wrote the record asked for nothing: without a status nobody ever has.
  return ask(parts, { record: asked, first: lot.status === undefined }, budget)
}

/** Writes the record of one more warm address, if it is not one too many; answers why not. */
export async function addWarm(
  parts: ClaimParts,
  { name, location }: { name: string; location: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const lot = newWarm(name, location)
  // Counted here lest one is written over and over that cannot stay, and again when it is asked for.
  const why = await parts.overLimit(lot, signal)
  if (why !== undefined) return why
  try {
    await parts.records.create(lot, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  return undefined
}

function newWarm(name: string, location: string): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name, finalizers: [recordFinalizer], labels: { [warmLabel]: 'true' } },
    spec: { location, reclaimPolicy: 'Delete' },
  }
}
