import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey } from '../../ledger/record/elastic-ip.ts'
import type { Outcome, Reconciler } from '../reconciler.ts'
import { runSteps } from '../run-steps.ts'
import { type AvailableSeen, type AvailableStep, planAvailable } from './available-plan.ts'

export type AvailableAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The name of the record whose source is this ElasticIP, by our cache. */
  claimantOf: (name: string) => string | undefined
  carryOut: (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Checks the reservation of a provisioned address: it need not have our marks, so no sweep sees that it is gone. */
  check: (seen: AvailableSeen, signal: AbortSignal) => Promise<Outcome>
}

/** More steps than any available address needs. */
const maxSteps = 10

/** Provisions, transfers and reclaims available addresses. Its key is the name of an ElasticIP. */
export function availableAddress(deps: AvailableAddressDeps): Reconciler {
  return {
    name: 'available-address',
    reconcile: (name, signal) =>
      runSteps(
        {
          look: (aborted) => look(deps, name, aborted),
          plan: (seen: AvailableSeen) => ({ step: planAvailable(seen) }),
          carryOut: (step: AvailableStep, _seen, aborted) => deps.carryOut(step, aborted),
          settled: (seen, aborted) => deps.check(seen, aborted),
          maxSteps,
        },
        signal,
      ),
  }
}

async function look(
  { getRecord, claimantOf }: AvailableAddressDeps,
  name: string,
  signal: AbortSignal,
): Promise<AvailableSeen> {
  const source = await getRecord(name, signal)
  const claimant = (source && claimKey(source)) ?? claimantOf(name)
  return { source, record: claimant === undefined ? undefined : await getRecord(claimant, signal) }
}
