import type { ControllerDeclaration } from '../loop/controller.ts'
import { watch } from '../loop/watch.ts'
import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey, recordName, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { isRelevantChange } from '../../ledger/record/status.ts'
import { isSource, hasReservationOf, isClaimed, isClaimedBy } from '../../ledger/record/source.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../../ledger/users/possible-users.ts'
import { failureEvent } from '../loop/reconcile-key.ts'
import { recordsOfFreedAddresses } from '../../ledger/record/address-use.ts'
import { type Outcome, type Reconciler, runSteps } from '../loop/reconciler.ts'
import { type AvailableSeen, type AvailableStep, planAvailable } from './available-plan.ts'
import type { LedgerWork } from '../../ledger/ledger.ts'
import { untilAborted } from '../../lib/time-limit.ts'

type Deps = Pick<Dependencies, 'caches' | 'ledger' | 'events' | 'vendor' | 'settings'>

/** Keeps provisioned and warm addresses ready for the Services that claim them. */
export function availableAddressController({ caches, ledger, events, vendor, settings }: Deps): ControllerDeclaration {
  const { services, records } = caches
  const { sweepIntervalMs: everyMs } = settings.cluster
  const requestAnnotations = allRequestAnnotations(vendor.policy.requestAnnotations)
  const freed = recordsOfFreedAddresses(() => records.list(), requestAnnotations)
  const checks = ledger.provisionedCheck({ everyMs, monotonicMs: () => performance.now() })
  return {
    reconciler: availableAddress({
      getRecord: ledger.getRecord,
      claimantsOf: (name) =>
        records
          .list()
          .filter(({ spec }) => spec.source?.name === name)
          .map(({ metadata }) => metadata.name),
      carryOut: availableSteps(ledger),
      check: checks.check,
    }),
    watches: [
      watch(records, (_name, current, previous) =>
        concerns(current, previous) ? [current, previous].flatMap(sourcesOf) : [],
      ),
      // A release waits while a Service shows the address.
      watch(services, (_key, current, previous) => freed(current, previous).flatMap(sourcesOf)),
    ],
    prepare: async () => checks.forget(),
    needs: [services, records],
    keys: () => records.list().flatMap(sourcesOf),
    // Several at a time, so that an address that waits for the provider does not keep others from their Services.
    concurrency: 4,
    retry: { firstMs: 1000, maxMs: 300_000 },
    report: failureEvent({
      events: events.of('service-controller'),
      find: (name) => records.get(name),
      reason: 'NotAvailable',
    }),
  }
}

/** Whether a record concerns this controller: every new source, and every deleted record that may have claimed one. */
function concerns(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  const isNew = current !== undefined && previous === undefined && isSource(current)
  const isGone = current === undefined && previous?.spec.source !== undefined
  return isNew || isGone || isRelevantChange(current, previous)
}

/** The sources that a record concerns: itself, and the one it names. */
function sourcesOf(record: ElasticIP | undefined): Key[] {
  if (!record) return []
  const { source } = record.spec
  return [...(isSource(record) ? [record.metadata.name] : []), ...(source ? [source.name] : [])]
}

type AvailableAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The names of the records in our cache whose source is this ElasticIP. */
  claimantsOf: (name: string) => string[]
  carryOut: (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Checks the reservation of a provisioned address, which may lack our marks, so that no sweep sees its deletion. */
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
  // Our cache may lag behind a record that names another source by now.
  if (!source) return { source, record: records.find(({ spec }) => spec.source?.name === name) }
  // If several records name the source, the one that holds its address decides, whatever its claimRef says.
  const holder =
    records.find((record) => hasReservationOf(record, source)) ?? records.find((record) => isClaimedBy(source, record))
  if (holder) return { source, record: holder }
  if (service === undefined) return { source, record: records[0] }
  if (!isClaimed(source)) return { source, record: found[0] }
  // The claimRef names only the Service, and our cache may still lack the record of its second address.
  const seconds = await read(secondKeys(service).map(recordName))
  return { source, record: seconds.find((record) => record && isClaimedBy(source, record)) ?? found[0] }
}

/** How long until we ask the provider again whether it has granted or deleted a reservation. */
const pollMs = 5_000

/** Makes the function that executes a step for an available address. */
export function availableSteps(
  ledger: LedgerWork,
): (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined> {
  return async (step, signal) => {
    switch (step.do) {
      case 'reserve':
        return reserve(ledger, step.source, signal)
      case 'provision':
        return requireAvailable(await ledger.provision(step.source, signal))
      case 'release':
        return (await ledger.releaseSource(step.source, signal)) === 'released' ? undefined : { againInMs: pollMs }
      case 'transfer':
        return finish(ledger.transferWarm(step, signal))
      case 'bind':
        return finish(ledger.bindSource(step.source, signal))
      case 'add-finalizer':
        return finish(ledger.holdRecord(step.source, signal))
      case 'observe':
        return finish(ledger.observeRecord(step.source, signal))
      case 'restore-claim':
        return finish(ledger.restoreClaim(step, signal))
      case 'reclaim':
        return finish(ledger.reclaimSource(step, signal))
      case 'remove':
        return finish(ledger.removeRecord(step.source, signal))
      case 'clear-source':
        return finish(ledger.clearSource(step.record, signal))
    }
  }
}

/** Waits for a step that the next look follows at once. */
async function finish(step: Promise<unknown>): Promise<undefined> {
  await step
}

async function reserve(ledger: LedgerWork, source: ElasticIP, signal: AbortSignal): Promise<Outcome | undefined> {
  const claimed = await untilAborted(ledger.claims.track(ledger.reserveWarm(source)), signal)
  if (claimed.kind === 'busy') return { againInMs: pollMs }
  return requireAvailable(claimed.kind === 'held' ? undefined : claimed.reason)
}

/** Throws why an address is not available. Its owner reads that in an Event, and we retry later. */
function requireAvailable(reason: string | undefined): undefined {
  if (reason !== undefined) throw new Error(`not available: ${reason}`)
}
