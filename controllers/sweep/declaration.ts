import { type ControllerDeclaration, periodicKey, periodicWork } from '../loop/controller.ts'
import { patch } from '../services/patch-service.ts'
import { watch } from '../loop/watch.ts'
import { isReleaseRecord } from '../../ledger/record/elastic-ip.ts'
import { leavesReservation } from '../../ledger/record/records.ts'
import type { AdoptionMark } from '../../ledger/identity/adoption-mark.ts'
import type { Sweep } from '../../ledger/sweep/sweep.ts'
import type { Dependencies } from '../dependencies.ts'
import { sweepObserver } from '../../ledger/ledger-metrics.ts'
import { allRequestAnnotations } from '../../ledger/users/possible-users.ts'

type Deps = Pick<Dependencies, 'client' | 'caches' | 'ledger' | 'want' | 'vendor' | 'settings' | 'events' | 'metrics'>

type LostRecordDeps = {
  caches: { records: Pick<Dependencies['caches']['records'], 'onChange'> }
  ledger: { mark: Pick<AdoptionMark, 'clear'> }
}

/** When the next sweep checks whether a slow provider has deleted a reservation: a minute is usual. */
const deletionMs = 120_000

/** Compares the provider's reservations with the ledger. */
export function ledgerSweepController(deps: Deps): ControllerDeclaration {
  const { services, records } = deps.caches
  const { sweepIntervalMs } = deps.settings.cluster
  return {
    ...periodicWork({ name: 'ledger-sweep', run: makeSweep(deps), everyMs: sweepIntervalMs }),
    watches: [
      watch(
        records,
        (_name, current, previous) => (current && !previous && isReleaseRecord(current) ? [periodicKey] : []),
        deletionMs,
      ),
    ],
    needs: [services, records],
    // Releases wait for the first sweep.
    retry: { firstMs: 1000, maxMs: Math.min(sweepIntervalMs, 60_000) },
  }
}

/**
 * Removes the adoption mark as soon as a record is lost while its reservation stays. A person removed its finalizer, or
 * etcd was restored from a backup while this leader ran.
 */
export function lostRecordController({ caches: { records }, ledger: { mark } }: LostRecordDeps): ControllerDeclaration {
  return {
    reconciler: {
      name: 'lost-record',
      async reconcile(_key, signal) {
        await mark.clear(signal)
        return {}
      },
    },
    watches: [
      watch(records, (_name, current, previous) =>
        !current && previous && leavesReservation(previous) ? [periodicKey] : [],
      ),
    ],
    // The first sweep of each leader removes it too.
    keys: () => [],
  }
}

function makeSweep({ client, ledger, caches, want, vendor, settings, events, metrics }: Deps): Sweep {
  const recorder = events.of('service-controller')
  return ledger.sweep({
    listRecords: () => caches.records.list(),
    listServices: () => caches.services.list().map((service) => ({ service, wanted: want(service) })),
    removeAddress: (service) => patch(client, service, { spec: { loadBalancerIP: null } }),
    requestAnnotations: allRequestAnnotations(vendor.policy.requestAnnotations),
    graceMs: settings.cluster.unboundGraceMs,
    mode: settings.cluster.sweep,
    observe: sweepObserver(metrics),
    warn: (service, reason, message) => recorder.record(service, { type: 'Warning', reason, message }),
  })
}
