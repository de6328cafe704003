import { runController } from '../../controllers/controller.ts'
import { ledgerSweep, sweepKey } from '../../controllers/ledger-sweep.ts'
import { queue } from '../../kube/queue.ts'
import { isReturningRecord } from '../../ledger/returning.ts'
import { type Sweep, sweep } from '../../ledger/sweep.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** How soon it is looked whether a cloud that takes its time has deleted what it was told to: a minute is usual. */
const returningMs = 120_000

/** Compares the cloud with the ledger once both are known, and again after every interval. */
export function sweeps(world: World): Controller {
  const { views, log, settings } = world
  const { sweepIntervalMs: intervalMs } = settings.cloud.settings
  const keys = queue({ firstMs: 1000, mostMs: intervalMs, log })
  views.records.onChange((_name, current, previous) => {
    if (current && !previous && isReturningRecord(current)) keys.addAfter(sweepKey, returningMs)
  })
  const reconciler = ledgerSweep({ sweep: makeSweep(world), intervalMs })
  return {
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal)])
      keys.add(sweepKey)
      await runController({ ...said(world), queue: keys, reconciler }, signal)
    },
  }
}

function makeSweep({ ledger, views, want, settings }: World): Sweep {
  return sweep({
    ...ledger.parts,
    mark: ledger.mark,
    listRecords: () => views.records.list(),
    listServices: () => views.services.list().map((service) => ({ service, wanted: want(service) })),
    graceMs: settings.cloud.settings.unboundGraceMs,
    mode: settings.cloud.settings.sweep,
  })
}
