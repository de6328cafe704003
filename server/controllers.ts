import { type ControllerOptions, runController } from '../controllers/controller.ts'
import { ledgerSweep, sweepKey } from '../controllers/ledger-sweep.ts'
import type { Reconciler } from '../controllers/reconciler.ts'
import { serviceAddress } from '../controllers/service-address.ts'
import { serviceSteps } from '../controllers/service-steps.ts'
import type { Key } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import { queue } from '../kube/queue.ts'
import { bind, setReclaim } from '../ledger/bind.ts'
import { type ElasticIP, claimKey, recordName } from '../ledger/elastic-ip.ts'
import { release, retain } from '../ledger/release.ts'
import { type Sweep, sweep } from '../ledger/sweep.ts'
import { announcerOf } from './announcers.ts'
import type { World } from './world.ts'

export type Controllers = {
  /** Looks at everything once, then at what changes, until the signal aborts and what was begun has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** Every controller of the process; they act only while they run. */
export function makeControllers(world: World): Controllers {
  const { views, metrics, log, settings } = world
  const { sweepIntervalMs } = settings.cloud.settings
  const concurrency = settings.process.concurrentServiceSyncs
  const addresses = queue({ concurrency, firstMs: 500, mostMs: 300_000, log })
  const sweeps = queue({ firstMs: 1000, mostMs: sweepIntervalMs, log })
  const addRecord = (record: ElasticIP | undefined) => {
    const key = record && claimKey(record)
    if (key !== undefined) addresses.add(key)
  }
  views.services.onChange((key) => addresses.add(key))
  views.records.onChange((_name, current, previous) => addRecord(current ?? previous))
  metrics.gauge('queue_length', 'Services that wait for a look.', () => addresses.length)

  const observe: ControllerOptions['observe'] = (...look) => metrics.reconcile(...look)
  const said = { log, observe }
  const address = { ...said, queue: addresses, reconciler: makeServiceAddress(world), complain: complainer(world) }
  const sweeper = {
    ...said,
    queue: sweeps,
    reconciler: ledgerSweep({ sweep: makeSweep(world), intervalMs: sweepIntervalMs }),
  }
  return {
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal)])
      for (const service of views.services.list()) addresses.add(keyOf(service))
      for (const record of views.records.list()) addRecord(record)
      sweeps.add(sweepKey)
      await Promise.all([runController(address, signal), runController(sweeper, signal)])
    },
  }
}

function makeServiceAddress({ client, ledger, views, want, events, settings, vendor, log }: World): Reconciler {
  const { parts, claims } = ledger
  return serviceAddress({
    client,
    cached: {
      service: (key) => views.services.get(key),
      record: (key) => views.records.get(recordName(key)),
    },
    getRecord: (key, signal) => parts.records.get(key, { signal }),
    want,
    announcer: announcerOf(vendor.loadBalancer, log),
    graceMs: settings.cloud.settings.unboundGraceMs,
    now: parts.now,
    carryOut: serviceSteps({
      client,
      claim: (claim, signal) => claims.claim(claim, signal),
      bind: (record, uid) => bind(parts, record, uid),
      setReclaim: (record, reclaim) => setReclaim(parts, record, reclaim),
      release: (record, signal) => release(parts, record, signal),
      retain: (record) => retain(parts, record),
      event: (service, happening) => events.record(service, happening),
    }),
  })
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

function complainer({ views, events }: World): (key: Key, message: string) => void {
  return (key, problem) => {
    const service = views.services.get(key)
    const message = `Error syncing load balancer: ${problem}`
    if (service) events.record(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message })
  }
}
