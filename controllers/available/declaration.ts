import { availableAddress } from './available-address.ts'
import { availableSteps } from './available-steps.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { watch } from '../loop/watch.ts'
import type { Key } from '../../kube/objects.ts'
import { provisionedCheck } from '../../ledger/available/provisioned-check.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { isRelevantChange } from '../../ledger/record/relevant-change.ts'
import { isSource } from '../../ledger/record/source.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../../ledger/users/possible-users.ts'
import { failureEvent } from '../loop/failure-event.ts'
import { recordsOfFreedAddresses } from '../services/freed-addresses.ts'

type Deps = Pick<Dependencies, 'caches' | 'ledger' | 'events' | 'vendor' | 'settings'>

/** Keeps provisioned and warm addresses ready for the Services that claim them. */
export function availableAddressController({ caches, ledger, events, vendor, settings }: Deps): ControllerDeclaration {
  const { services, records } = caches
  const { sweepIntervalMs: everyMs } = settings.cluster
  const requestAnnotations = allRequestAnnotations(vendor.policy.requestAnnotations)
  const freed = recordsOfFreedAddresses(() => records.list(), requestAnnotations)
  const checks = provisionedCheck(ledger.deps, { everyMs, monotonicMs: () => performance.now() })
  return {
    reconciler: availableAddress({
      getRecord: (key, signal) => ledger.deps.records.get(key, { signal }),
      claimantsOf: (name) =>
        records
          .list()
          .filter(({ spec }) => spec.source?.name === name)
          .map(({ metadata }) => metadata.name),
      carryOut: availableSteps({ ...ledger.deps, track: ledger.claims.track }),
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
    // A few at a time: an address that waits for the cloud must not keep the others from their Services.
    concurrency: 4,
    retry: { firstMs: 1000, maxMs: 300_000 },
    report: failureEvent({
      events: events.of('service-controller'),
      find: (name) => records.get(name),
      reason: 'NotAvailable',
    }),
  }
}

/** A new source, and a deleted record that may have claimed one, are reconciled whatever state they are in. */
function concerns(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  const isNew = current !== undefined && previous === undefined && isSource(current)
  const isGone = current === undefined && previous?.spec.source !== undefined
  return isNew || isGone || isRelevantChange(current, previous)
}

/** The sources that a record is, or that it has its address from. */
function sourcesOf(record: ElasticIP | undefined): Key[] {
  if (!record) return []
  const { source } = record.spec
  return [...(isSource(record) ? [record.metadata.name] : []), ...(source ? [source.name] : [])]
}
