import { runController } from '../../controllers/controller.ts'
import type { Announcing } from '../../controllers/announcing/announcing.ts'
import type { Reconciler } from '../../controllers/reconciler.ts'
import { serviceAddress } from '../../controllers/services/service-address.ts'
import { serviceSteps } from '../../controllers/services/service-steps.ts'
import type { Key, Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { bind, setReclaimPolicy } from '../../ledger/claim/bind.ts'
import { type ElasticIP, claimKey, recordName } from '../../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isRelevantChange } from '../../ledger/record/relevant-change.ts'
import { release, retain } from '../../ledger/release/release.ts'
import { isAvailable } from '../../ledger/record/source.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** Gives Services their addresses and takes them back. */
export function addresses(deps: Dependencies, announcing: Pick<Announcing, 'holds'>): Controller {
  const { caches, metrics, log, settings } = deps
  const concurrency = settings.process.concurrentServiceSyncs
  const keys = queue({ concurrency, firstMs: 500, maxMs: 300_000, log })
  const addRecord = (record: ElasticIP, isNew = true) => {
    const key = claimKey(record)
    if (key !== undefined && isNew) keys.add(key)
    // Its Service may never come.
    else if (key !== undefined) keys.addAfter(key, settings.cloud.settings.unboundGraceMs)
    if (isAvailable(record))
      for (const service of caches.services.list()) if (names(service, record)) keys.add(keyOf(service))
  }
  caches.services.onChange((key) => keys.add(key))
  caches.records.onChange((_name, current, previous) => {
    const record = current ?? previous
    if (record) addRecord(record, isRelevantChange(current, previous))
  })
  metrics.gauge('queue_length', 'Services that wait for a look.', () => keys.length)
  const reconciler = makeServiceAddress(deps, announcing)
  return {
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal)])
      for (const service of caches.services.list()) keys.add(keyOf(service))
      for (const record of caches.records.list()) addRecord(record)
      await runController({ ...said(deps), queue: keys, reconciler, complain: complainer(deps) }, signal)
    },
  }
}

/** Whether a Service waits for the address of this ElasticIP. */
function names({ metadata }: Service, record: ElasticIP): boolean {
  return metadata.annotations?.[elasticIPAnnotation] === record.metadata.name
}

function makeServiceAddress(deps: Dependencies, announcing: Pick<Announcing, 'holds'>): Reconciler {
  const { client, ledger, caches, want, events, settings, announcer } = deps
  const { requestAnnotations } = deps.vendor.policy
  const { deps: ledgerDeps, claims } = ledger
  return serviceAddress({
    client,
    cached: {
      service: (key) => caches.services.get(key),
      record: (key) => caches.records.get(recordName(key)),
    },
    getRecord: (key, signal) => ledgerDeps.records.get(key, { signal }),
    want,
    announcer,
    requestAnnotations,
    holds: (address, signal) => announcing.holds(address, signal),
    graceMs: settings.cloud.settings.unboundGraceMs,
    now: ledgerDeps.now,
    carryOut: serviceSteps({
      client,
      announcer,
      requestAnnotations,
      now: ledgerDeps.now,
      claim: (claim, signal) => claims.claim(claim, signal),
      bind: (of, signal) => bind(ledgerDeps, of, signal),
      setReclaimPolicy: (of, signal) => setReclaimPolicy(ledgerDeps, of, signal),
      release: (record, signal) => release(ledgerDeps, record, signal),
      retain: (record, signal) => retain(ledgerDeps, record, signal),
      event: (service, happening) => events.record(service, happening),
    }),
  })
}

function complainer({ caches, events }: Dependencies): (key: Key, message: string) => void {
  return (key, problem) => {
    const service = caches.services.get(key)
    const message = `Error syncing load balancer: ${problem}`
    if (service) events.record(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message })
  }
}
