import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey, recordName, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { hasReservationOf, isClaimed, isClaimedBy } from '../../ledger/record/source.ts'
import { type Outcome, type Reconciler, runSteps } from '../loop/reconciler.ts'
import { type AvailableSeen, type AvailableStep, planAvailable } from './available-plan.ts'

export type AvailableAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The names of the records whose source is this ElasticIP, by our cache. */
  claimantsOf: (name: string) => string[]
  carryOut: (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Checks the reservation of a provisioned address: it need not have our marks, so no sweep sees its deletion. */
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
  const read = (names: Iterable<string>) => Promise.all([...names].map((one) => getRecord(one, signal)))
  const source = await getRecord(name, signal)
  const service = source && claimKey(source)
  const found = await read(new Set([...(service === undefined ? [] : [recordName(service)]), ...claimantsOf(name)]))
  const records = found.filter((record) => record !== undefined)
  if (!source) return { source, record: records[0] }
  // If several records name the source, the one that holds its address decides, whatever its claimRef says.
  const holder =
    records.find((record) => hasReservationOf(record, source)) ?? records.find((record) => isClaimedBy(source, record))
  if (holder) return { source, record: holder }
  if (service === undefined) return { source, record: records[0] }
  if (!isClaimed(source)) return { source, record: found[0] }
  // The claimRef names only the Service, and our cache may not have the record of its second address yet.
  const seconds = await read(secondKeys(service).map(recordName))
  return { source, record: seconds.find((record) => record && isClaimedBy(source, record)) ?? found[0] }
}
