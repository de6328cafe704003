import { runController } from '../../controllers/controller.ts'
import type { Announcing } from '../../controllers/announcing.ts'
import type { Reconciler } from '../../controllers/reconciler.ts'
import { serviceAddress } from '../../controllers/service-address.ts'
import { serviceSteps } from '../../controllers/service-steps.ts'
import type { Key, Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { bind, setReclaim } from '../../ledger/bind.ts'
import { type ElasticIP, claimKey, recordName } from '../../ledger/elastic-ip.ts'
import { elasticIPAnnotation } from '../../ledger/names.ts'
import { isNews } from '../../ledger/news.ts'
import { release, retain } from '../../ledger/release.ts'
import { isFree } from '../../ledger/stock.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** Gives Services their addresses and takes them back. */
export function addresses(world: World, announcing: Pick<Announcing, 'holds'>): Controller {
  const { views, metrics, log, settings } = world
  const concurrency = settings.process.concurrentServiceSyncs
  const keys = queue({ concurrency, firstMs: 500, mostMs: 300_000, log })
  const addRecord = (record: ElasticIP, isNew = true) => {
    const key = claimKey(record)
    if (key !== undefined && isNew) keys.add(key)
    // Its Service may never come.
    else if (key !== undefined) keys.addAfter(key, settings.cloud.settings.unboundGraceMs)
    if (isFree(record))
      for (const service of views.services.list()) if (names(service, record)) keys.add(keyOf(service))
  }
  views.services.onChange((key) => keys.add(key))
  views.records.onChange((_name, current, previous) => {
    const record = current ?? previous
    if (record) addRecord(record, isNews(current, previous))
  })
  metrics.gauge('queue_length', 'Services that wait for a look.', () => keys.length)
  const reconciler = makeServiceAddress(world, announcing)
  return {
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal)])
      for (const service of views.services.list()) keys.add(keyOf(service))
      for (const record of views.records.list()) addRecord(record)
      await runController({ ...said(world), queue: keys, reconciler, complain: complainer(world) }, signal)
    },
  }
}

/** Whether a Service waits for the address of this ElasticIP. */
function names({ metadata }: Service, record: ElasticIP): boolean {
  return metadata.annotations?.[elasticIPAnnotation] === record.metadata.name
}

function makeServiceAddress(world: World, announcing: Pick<Announcing, 'holds'>): Reconciler {
  const { client, ledger, views, want, events, settings, announcer } = world
  const { asking } = world.vendor.policy
  const { parts, claims } = ledger
  return serviceAddress({
    client,
    cached: {
      service: (key) => views.services.get(key),
      record: (key) => views.records.get(recordName(key)),
    },
    getRecord: (key, signal) => parts.records.get(key, { signal }),
    want,
    announcer,
    asking,
    holds: (address, signal) => announcing.holds(address, signal),
    graceMs: settings.cloud.settings.unboundGraceMs,
    now: parts.now,
    carryOut: serviceSteps({
      client,
      announcer,
      asking,
      now: parts.now,
      claim: (claim, signal) => claims.claim(claim, signal),
      bind: (record, uid) => bind(parts, record, uid),
      setReclaim: (record, reclaim) => setReclaim(parts, record, reclaim),
      release: (record, signal) => release(parts, record, signal),
      retain: (record) => retain(parts, record),
      event: (service, happening) => events.record(service, happening),
    }),
  })
}

function complainer({ views, events }: World): (key: Key, message: string) => void {
  return (key, problem) => {
    const service = views.services.get(key)
    const message = `Error syncing load balancer: ${problem}`
    if (service) events.record(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message })
  }
}
