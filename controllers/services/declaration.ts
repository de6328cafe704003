import type { ServiceAssigning } from '../assigning/declaration.ts'
import type { Announcing } from '../announcing/announcing.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { forwardedKeys } from '../loop/forwarded-keys.ts'
import { cloudSteps, quickSteps, type ServiceAddressDeps } from './service-address.ts'
import { serviceSteps } from './service-steps.ts'
import { type Watch, watch } from '../loop/watch.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { bind, setReclaimPolicy } from '../../ledger/claim/bind.ts'
import { type ElasticIP, claimKey, recordName } from '../../ledger/record/elastic-ip.ts'
import { elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isRelevantChange } from '../../ledger/record/relevant-change.ts'
import { isAvailableFor, isClaimed, isSource } from '../../ledger/record/source.ts'
import { postponeRelease, release, retain } from '../../ledger/release/release.ts'
import { sights } from '../../lib/sights.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../../ledger/users/possible-users.ts'
import { failureEvent } from '../loop/failure-event.ts'
import { recordsOfFreedAddresses } from './freed-addresses.ts'

type Deps = Pick<
  Dependencies,
  'client' | 'caches' | 'ledger' | 'want' | 'ownAddresses' | 'events' | 'metrics' | 'announcer' | 'vendor' | 'settings'
>

/** What leads addresses to nodes: announcing software, or assignments of the cloud. */
type Reach = {
  announcing: Pick<Announcing, 'findAnnouncement'> | undefined
  assigning: Pick<ServiceAssigning, 'findAnnouncement' | 'announcer' | 'arrived'> | undefined
}

/** Gives Services their addresses and releases them. What waits for the cloud has workers of its own. */
export function serviceControllers(given: Deps, { announcing, assigning }: Reach): ControllerDeclaration[] {
  const deps = { ...given, announcer: assigning?.announcer ?? given.announcer }
  const reconcilerDeps = makeReconcilerDeps(
    deps,
    [announcing, assigning].filter((one) => one !== undefined),
  )
  const queues = { claim: forwardedKeys(), release: forwardedKeys() }
  const stepQueues = { claim: queues.claim.add, release: queues.release.add }
  const kinds = ['claim', 'release'] as const
  return [
    {
      ...common(deps),
      reconciler: quickSteps(reconcilerDeps, stepQueues),
      watches: [...changes(deps), ...(assigning ? [assigning.arrived] : [])],
      keys: () => [...deps.caches.services.list().map(keyOf), ...deps.caches.records.list().flatMap(keysOf)],
    },
    ...kinds.map((kind) => ({
      ...common(deps),
      reconciler: cloudSteps(kind, reconcilerDeps, stepQueues),
      watches: [queues[kind].watch],
      keys: () => [],
    })),
  ]
}

/** What the controllers of Services have in common. */
function common({ caches: { services, records }, settings, events }: Deps) {
  return {
    needs: [services, records],
    concurrency: settings.process.concurrentServiceSyncs,
    retry: { firstMs: 500, maxMs: 300_000 },
    report: failureEvent({
      events: events.of('service-controller'),
      find: (key) => services.get(key),
      reason: 'SyncLoadBalancerFailed',
      prefix: 'Error syncing load balancer: ',
    }),
  }
}

/** The changes after which a Service is reconciled. */
function changes(deps: Deps): Watch[] {
  const { services, records } = deps.caches
  const { unboundGraceMs } = deps.settings.cluster
  const waitingFor = (record: ElasticIP | undefined) =>
    record && isSource(record) ? services.list().filter(requests(record)).map(keyOf).filter(canHave(record)) : []
  const freed = recordsOfFreedAddresses(
    () => records.list(),
    allRequestAnnotations(deps.vendor.policy.requestAnnotations),
  )
  return [
    watch(services, (key) => [key]),
    // A release and a claim by name wait while another Service shows the address.
    watch(services, (_key, current, previous) =>
      freed(current, previous).flatMap((record) => [...keysOf(record), ...waitingFor(record)]),
    ),
    watch(deps.ownAddresses, (keys) => keys),
    watch(records, (_name, current, previous) => [
      ...(isRelevantChange(current, previous) ? keysOf(current ?? previous) : []),
      ...waitingFor(current ?? previous),
    ]),
    // The Service of an unbound record may never come.
    watch(
      records,
      (_name, current, previous) => (isRelevantChange(current, previous) ? [] : keysOf(current ?? previous)),
      unboundGraceMs,
    ),
  ]
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

function makeReconcilerDeps(deps: Deps, announcing: Pick<Announcing, 'findAnnouncement'>[]): ServiceAddressDeps {
  const { client, ledger, caches, want, settings, announcer } = deps
  const { requestAnnotations } = deps.vendor.policy
  const { deps: ledgerDeps, claims } = ledger
  const events = deps.events.of('service-controller')
  return {
    client,
    cached: {
      service: (key) => caches.services.get(key),
      record: (key) => caches.records.get(recordName(key)),
    },
    getRecord: (key, signal) => ledgerDeps.records.get(key, { signal }),
    want,
    announcer,
    requestAnnotations,
    async findAnnouncement(address, signal) {
      for (const one of announcing) {
        const found = await one.findAnnouncement(address, signal)
        if (found) return found
      }
      return undefined
    },
    graceMs: settings.cluster.unboundGraceMs,
    sights: sights(() => performance.now()),
    carryOut: serviceSteps({
      client,
      announcer,
      requestAnnotations,
      now: ledgerDeps.now,
      claim: (claim, signal) => claims.claim(claim, signal),
      bind: (of, signal) => bind(ledgerDeps, of, signal),
      setReclaimPolicy: (of, signal) => setReclaimPolicy(ledgerDeps, of, signal),
      release: (record, signal) => release(ledgerDeps, record, signal),
      postponeRelease: (of, signal) => postponeRelease(ledgerDeps, of, signal),
      retain: (record, signal) => retain(ledgerDeps, record, signal),
      event: (service, event) => events.record(service, event),
      onMissedByAdmission: () => deps.metrics.add('eip_admission_services_without_admission_total', {}),
    }),
  }
}
