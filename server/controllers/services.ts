import type { Announcing } from '../../controllers/announcing/announcing.ts'
import type { ControllerDeclaration } from '../../controllers/controller.ts'
import type { Reconciler } from '../../controllers/reconciler.ts'
import { serviceAddress } from '../../controllers/services/service-address.ts'
import { serviceSteps } from '../../controllers/services/service-steps.ts'
import { watch } from '../../controllers/watch.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { bind, setReclaimPolicy } from '../../ledger/claim/bind.ts'
import { type ElasticIP, claimKey, recordName } from '../../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isRelevantChange } from '../../ledger/record/relevant-change.ts'
import { isAvailableFor, isClaimed, isSource } from '../../ledger/record/source.ts'
import { release, retain } from '../../ledger/release/release.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../possible-users.ts'
import { failureEvent } from './failure-event.ts'
import { recordsOfFreedAddresses } from './freed-addresses.ts'

type Deps = Pick<Dependencies, 'client' | 'caches' | 'ledger' | 'want' | 'events' | 'announcer' | 'vendor' | 'settings'>

/** Gives Services their addresses and releases them. */
export function serviceController(
  deps: Deps,
  announcing: Pick<Announcing, 'findAnnouncement'> | undefined,
): ControllerDeclaration {
  const { services, records } = deps.caches
  const { unboundGraceMs } = deps.settings.cluster
  const waitingFor = (record: ElasticIP | undefined) =>
    record && isSource(record) ? services.list().filter(requests(record)).map(keyOf).filter(canHave(record)) : []
  const requestAnnotations = allRequestAnnotations(deps.vendor.policy.requestAnnotations)
  const freed = recordsOfFreedAddresses(() => records.list(), requestAnnotations)
  return {
    reconciler: makeReconciler(deps, announcing),
    watches: [
      watch(services, (key) => [key]),
      watch(records, (_name, current, previous) => [
        ...(isRelevantChange(current, previous) ? keysOf(current ?? previous) : []),
        ...waitingFor(current ?? previous),
      ]),
      // A release and a claim by name wait while another Service shows the address.
      watch(services, (_key, current, previous) =>
        freed(current, previous).flatMap((record) => [...keysOf(record), ...waitingFor(record)]),
      ),
      // The Service of an unbound record may never come.
      watch(
        records,
        (_name, current, previous) => (isRelevantChange(current, previous) ? [] : keysOf(current ?? previous)),
        unboundGraceMs,
      ),
    ],
    needs: [services, records],
    keys: () => [...services.list().map(keyOf), ...records.list().flatMap(keysOf)],
    concurrency: deps.settings.process.concurrentServiceSyncs,
    retry: { firstMs: 500, maxMs: 300_000 },
    report: failureEvent({
      events: deps.events.of('service-controller'),
      find: (key) => services.get(key),
      reason: 'SyncLoadBalancerFailed',
      prefix: 'Error syncing load balancer: ',
    }),
  }
}

/** The Service of a record. */
function keysOf(record: ElasticIP | undefined): Key[] {
  const key = record && claimKey(record)
  return key === undefined ? [] : [key]
}

/** Whether the Service of a key may claim an address now. */
function canHave(source: ElasticIP): (key: Key) => boolean {
  return (key) => isAvailableFor(key, source) && !isClaimed(source)
}

/** Whether a Service requests this ElasticIP by its name. */
function requests({ metadata: { name } }: ElasticIP): (service: Service) => boolean {
  return ({ metadata }) => metadata.annotations?.[elasticIPAnnotation] === name
}

function makeReconciler(deps: Deps, announcing: Pick<Announcing, 'findAnnouncement'> | undefined): Reconciler {
  const { client, ledger, caches, want, settings, announcer } = deps
  const { requestAnnotations } = deps.vendor.policy
  const { deps: ledgerDeps, claims } = ledger
  const events = deps.events.of('service-controller')
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
    findAnnouncement: async (address, signal) => announcing?.findAnnouncement(address, signal),
    graceMs: settings.cluster.unboundGraceMs,
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
      event: (service, event) => events.record(service, event),
    }),
  })
}
