import type { ControllerDeclaration } from '../../controllers/controller.ts'
import { ledgerSweep, sweepKey } from '../../controllers/ledger-sweep.ts'
import { watch } from '../../controllers/watch.ts'
import { isReleaseRecord } from '../../ledger/record/elastic-ip.ts'
import { type Sweep, sweep } from '../../ledger/sweep/sweep.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../possible-users.ts'

type Deps = Pick<Dependencies, 'caches' | 'ledger' | 'want' | 'vendor' | 'settings'>

/** When the next sweep checks whether a slow cloud has deleted a reservation: a minute is usual. */
const deletionMs = 120_000

/** Compares the cloud with the ledger. */
export function ledgerSweepController(deps: Deps): ControllerDeclaration {
  const { services, records } = deps.caches
  const { sweepIntervalMs } = deps.settings.cluster
  return {
    reconciler: ledgerSweep(makeSweep(deps)),
    watches: [
      watch(
        records,
        (_name, current, previous) => (current && !previous && isReleaseRecord(current) ? [sweepKey] : []),
        deletionMs,
      ),
    ],
    needs: [services, records],
    keys: () => [sweepKey],
    resyncMs: sweepIntervalMs,
    retry: { firstMs: 1000, maxMs: sweepIntervalMs },
  }
}

function makeSweep({ ledger, caches, want, vendor, settings }: Deps): Sweep {
  return sweep({
    ...ledger.deps,
    mark: ledger.mark,
    listRecords: () => caches.records.list(),
    listServices: () => caches.services.list().map((service) => ({ service, wanted: want(service) })),
    requestAnnotations: allRequestAnnotations(vendor.policy.requestAnnotations),
    graceMs: settings.cluster.unboundGraceMs,
    mode: settings.cluster.sweep,
  })
}
