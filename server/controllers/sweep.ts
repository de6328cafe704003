import { runController } from '../../controllers/controller.ts'
import { ledgerSweep, sweepKey } from '../../controllers/ledger-sweep.ts'
import { queue } from '../../kube/queue.ts'
import { isReleaseRecord } from '../../ledger/record/elastic-ip.ts'
import { type Sweep, sweep } from '../../ledger/sweep/sweep.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** How soon it is looked whether a cloud that takes its time has deleted what it was told to: a minute is usual. */
const returningMs = 120_000

/** Compares the cloud with the ledger once both are known, and again after every interval. */
export function sweeps(deps: Dependencies): Controller {
  const { caches, log, settings } = deps
  const { sweepIntervalMs: intervalMs } = settings.cloud.settings
  const keys = queue({ firstMs: 1000, maxMs: intervalMs, log })
  caches.records.onChange((_name, current, previous) => {
    if (current && !previous && isReleaseRecord(current)) keys.addAfter(sweepKey, returningMs)
  })
  const reconciler = ledgerSweep({ sweep: makeSweep(deps), intervalMs })
  return {
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal)])
      keys.add(sweepKey)
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
    },
  }
}

function makeSweep({ ledger, caches, want, settings }: Dependencies): Sweep {
  return sweep({
    ...ledger.deps,
    mark: ledger.mark,
    listRecords: () => caches.records.list(),
    listServices: () => caches.services.list().map((service) => ({ service, wanted: want(service) })),
    graceMs: settings.cloud.settings.unboundGraceMs,
    mode: settings.cloud.settings.sweep,
  })
}
