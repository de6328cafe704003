import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey, recordName } from '../../ledger/record/elastic-ip.ts'
import { hasReservationOf } from '../../ledger/record/source.ts'
import { type Outcome, type Reconciler, runSteps } from '../loop/reconciler.ts'
import { type AvailableSeen, type AvailableStep, planAvailable } from './available-plan.ts'

export type AvailableAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The names of the records whose source is this ElasticIP, by our cache. */
  claimantsOf: (name: string) => string[]
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
  { getRecord, claimantsOf }: AvailableAddressDeps,
  name: string,
  signal: AbortSignal,
): Promise<AvailableSeen> {
  const source = await getRecord(name, signal)
  const named = source && claimKey(source)
  const names = new Set([...(named === undefined ? [] : [recordName(named)]), ...claimantsOf(name)])
  const found = await Promise.all([...names].map((claimant) => getRecord(claimant, signal)))
  const records = found.filter((record) => record !== undefined)
  // Of several records that name the source, the one that holds its address decides, whatever its claimRef says.
  const holder = source && records.find((record) => hasReservationOf(record, source))
  return { source, record: holder ?? (named === undefined ? records[0] : found[0]) }
}
