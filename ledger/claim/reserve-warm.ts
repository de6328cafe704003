import { isAlreadyExists } from '../../kube/errors.ts'
import { type ClaimResult, ask } from './ask.ts'
import type { ClaimDeps } from './claim.ts'
import { type ElasticIP, recordFinalizer } from '../record/elastic-ip.ts'
import { warmLabel } from '../record/names.ts'

/** Asks the cloud for an address of the warm pool; `busy` while another question for it may be under way. */
export async function reserveWarm(deps: ClaimDeps, source: ElasticIP): Promise<ClaimResult | 'busy'> {
  if (deps.requestsInFlight.isInFlight(source)) return 'busy'
  const timeLimit = deps.timeLimit()
  const requestInFlight = { sender: deps.identity, sentAt: deps.now().toISOString() }
  const asked = await deps.records.writeStatus(source, { phase: 'Requested', requestInFlight })
  // Whoever wrote the record asked for nothing: without a status nobody ever has.
  return ask(deps, { record: asked, first: source.status === undefined }, timeLimit)
}

/** Writes the record of one more warm address, if it is not one too many; answers why not. */
export async function addWarm(
  deps: ClaimDeps,
  { name, location }: { name: string; location: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const source = newWarm(name, location)
  // Counted here lest one is written over and over that cannot stay, and again when it is asked for.
  const why = await deps.overLimit(source, signal)
  if (why !== undefined) return why
  try {
    await deps.records.create(source, { signal })
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
