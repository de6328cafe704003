import type { ServiceAssigning } from '../assigning/declaration.ts'
import type { Announcing } from '../announcing/announcing.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { machineIdOf } from '../nodes/node-machine.ts'
import { forwardedKeys, type Watch, watch } from '../loop/watch.ts'
import { cloudSteps, quickSteps, type ServiceAddressDeps } from './service-address.ts'
import { serviceSteps } from './service-steps.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import {
  type AddressKey,
  type ElasticIP,
  addressKeyOf,
  claimKey,
  recordName,
  secondKey,
  secondKeys,
  serviceOfAddress,
} from '../../ledger/record/elastic-ip.ts'
import { lastingMarks } from '../../ledger/record/marks.ts'
import { addressAnnotation, elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isRelevantChange } from '../../ledger/record/status.ts'
import { isAvailableFor, isClaimed, isSource } from '../../ledger/record/source.ts'
import type { ReleaseDeps } from '../../ledger/release/release.ts'
import type { Want } from '../../ledger/want/want.ts'
import { sights } from '../../lib/sights.ts'
import type { Dependencies } from '../dependencies.ts'
import { allRequestAnnotations } from '../../ledger/users/possible-users.ts'
import { failureEvent } from '../loop/reconcile-key.ts'
import { serviceCondition } from './service-condition.ts'
import { recordsOfFreedAddresses } from '../../ledger/record/address-use.ts'

/** How addresses reach nodes: by announcing software, or by the provider's assignments. */
type Reach = {
  announcing: Pick<Announcing, 'findAnnouncement' | 'problemOf'> | undefined
  assigning: Pick<ServiceAssigning, 'free' | 'announcer' | 'arrived'> | undefined
  writeMs: () => number
}

/** Gives Services their addresses and releases them. Steps that wait for the provider have their own workers. */
export function serviceControllers(
  given: Dependencies,
  { announcing, assigning, writeMs }: Reach,
): ControllerDeclaration[] {
  const deps = { ...given, announcer: assigning?.announcer ?? given.announcer }
  const { keysOf, ofRecord } = addressKeys(deps)
  // For an assigned address this also frees it from its machine.
  const findAnnouncement: Announcing['findAnnouncement'] = async (address, signal) =>
    (await announcing?.findAnnouncement(address, signal)) ?? assigning?.free(address)
  const unassign = assigning ? undefined : leftAssignments(deps, writeMs)
  const reconcilerDeps = makeReconcilerDeps(deps, findAnnouncement, unassign)
  const queues = { claim: forwardedKeys(), release: forwardedKeys() }
  const kinds = ['claim', 'release'] as const
  return [
    {
      ...common(deps),
      reconciler: quickSteps(reconcilerDeps, queues),
      watches: [...changes(deps), ...(assigning ? [assigning.arrived] : [])],
      keys: () => [
        ...deps.caches.services.list().flatMap((service) => keysOf(keyOf(service), service)),
        ...deps.caches.records.list().flatMap(ofRecord),
      ],
    },
    ...kinds.map((kind) => ({
      ...common(deps),
      reconciler: cloudSteps(kind, reconcilerDeps, queues),
      watches: [queues[kind].watch],
      holdsFailedCalls: kind === 'release',
      keys: () => [],
    })),
    conditionController(deps, announcing),
  ]
}

const now = () => new Date()

/** Changes come in bursts, and the condition needs only the final state. */
const gatherMs = 500

function conditionController(deps: Dependencies, announcing: Reach['announcing']): ControllerDeclaration {
  const { client, caches, want, announcer, ledger, settings } = deps
  const { services, records } = caches
  const events = deps.events.of('service-controller')
  return {
    reconciler: serviceCondition({
      client,
      service: (key) => services.get(key),
      want,
      records: (key) => [key, ...secondKeys(key)].flatMap((one) => records.get(recordName(one)) ?? []),
      announcer,
      problemOf: (key) => announcing?.problemOf(key),
      claimReason: (key) => ledger.claims.waits.reason(key),
      sights: sights(() => performance.now()),
      now,
      event: (service, event) => events.record(service, event),
    }),
    watches: [
      watch(services, (key) => [key], gatherMs),
      watch(records, (_name, current, previous) => serviceOf(current ?? previous), gatherMs),
      watch(deps.ownAddresses, (keys) => keys, gatherMs),
    ],
    needs: [services, records],
    concurrency: settings.process.concurrentServiceSyncs,
    keys: () => services.list().map(keyOf),
  }
}

/** The common parts of the controllers of Services. */
function common({ caches: { services, records }, settings, events }: Dependencies) {
  return {
    needs: [services, records],
    concurrency: settings.process.concurrentServiceSyncs,
    retry: { firstMs: 500, maxMs: 300_000 },
    report: failureEvent({
      events: events.of('service-controller'),
      find: (key) => services.get(serviceOfAddress(key)),
      reason: 'SyncLoadBalancerFailed',
      prefix: 'Error syncing load balancer: ',
    }),
  }
}

/** The changes after which a Service is reconciled. */
function changes(deps: Dependencies): Watch[] {
  const { services, records } = deps.caches
  const { unboundGraceMs } = deps.settings.cluster
  /** The Services that request an available address by its name, and may claim it now. */
  const waitingFor = (record: ElasticIP | undefined) =>
    record && isSource(record) && !isClaimed(record)
      ? services
          .list()
          .filter(({ metadata }) => metadata.annotations?.[elasticIPAnnotation] === record.metadata.name)
          .map(keyOf)
          .filter((key) => isAvailableFor(key, record))
      : []
  const requestAnnotations = allRequestAnnotations(deps.vendor.policy.requestAnnotations)
  const freed = recordsOfFreedAddresses(() => records.list(), requestAnnotations)
  const { keysOf, ofRecord } = addressKeys(deps)
  return [
    watch(services, (key, current) => keysOf(key, current)),
    // A release and a claim by name wait while another Service shows the address.
    watch(services, (_key, current, previous) =>
      freed(current, previous).flatMap((record) => [...ofRecord(record), ...waitingFor(record)]),
    ),
    watch(deps.ownAddresses, (keys) => keys),
    // Nothing else wakes a Service without a known location, because its user need not edit it.
    watch(deps.locations, () =>
      services
        .list()
        .filter((service) => isWaiting(service, deps.want(service)))
        .flatMap((service) => keysOf(keyOf(service), service)),
    ),
    watch(records, (_name, current, previous) => [
      ...(isRelevantChange(current, previous) ? ofRecord(current ?? previous) : []),
      ...waitingFor(current ?? previous),
    ]),
    // The Service of an unbound record may never arrive. The Service of a deleted record may still have our finalizer.
    watch(
      records,
      (_name, current, previous) => (isRelevantChange(current, previous) ? [] : ofRecord(current ?? previous)),
      unboundGraceMs,
    ),
  ]
}

/** Whether a Service has no address of ours, and may lack only a location. */
function isWaiting({ metadata }: Service, { kind }: Want): boolean {
  return metadata.annotations?.[addressAnnotation] === undefined && ['reserve', 'wrong'].includes(kind)
}

/** The keys of the addresses of a Service: the first, and a second one that exists or is wanted. */
function addressKeys({ caches: { services, records }, want, vendor }: Dependencies) {
  const wantsSecond = (service: Service, second: AddressKey) => {
    const wanted = want(service)
    return wanted.kind === 'reserve' && wanted.second && second === secondKey(keyOf(service), wanted.second.family)
  }
  const keysOf = (key: Key, service: Service | undefined): AddressKey[] => {
    const isWanted = (second: AddressKey) => vendor.policy.isDualStack && service && wantsSecond(service, second)
    const isKnown = (second: AddressKey) => records.get(recordName(second)) !== undefined
    return [key, ...secondKeys(key).filter((second) => isKnown(second) || isWanted(second))]
  }
  /** The keys of the Service that a record belongs to. */
  const ofRecord = (record: ElasticIP | undefined): AddressKey[] => {
    const key = record && claimKey(record)
    if (!record || key === undefined) return []
    return [...new Set([addressKeyOf(record) ?? key, ...keysOf(key, services.get(key))])]
  }
  return { keysOf, ofRecord }
}

function serviceOf(record: ElasticIP | undefined): Key[] {
  const key = record && claimKey(record)
  return key === undefined ? [] : [key]
}

function makeReconcilerDeps(
  deps: Dependencies,
  findAnnouncement: Announcing['findAnnouncement'],
  unassign: ReleaseDeps['unassign'],
): ServiceAddressDeps {
  const { client, ledger, caches, want, settings, announcer } = deps
  const { requestAnnotations } = deps.vendor.policy
  const events = deps.events.of('service-controller')
  const seen = sights(() => performance.now())
  return {
    client,
    cached: {
      service: (key) => caches.services.get(key),
      record: (key) => caches.records.get(recordName(key)),
      records: () => caches.records.list(),
    },
    getRecord: ledger.getRecord,
    want,
    announcer,
    requestAnnotations,
    users: (address) => deps.ownAddresses.users(address),
    policy: deps.vendor.policy,
    findAnnouncement,
    claimWaits: ledger.claims.waits,
    graceMs: settings.cluster.unboundGraceMs,
    sights: seen,
    carryOut: serviceSteps({
      client,
      announcer,
      requestAnnotations,
      want,
      now,
      ledger,
      release: ledger.releaseWith(unassign),
      event: (service, event) => events.record(service, event),
      onMissedByAdmission: () => deps.metrics.add('eip_admission_services_without_admission_total', {}),
    }),
  }
}

/**
 * Frees an address that another load balancer setting left on a node; undefined if the provider does not assign
 * addresses. If a person gave it to a machine outside the cluster, it stays there, and the provider refuses the
 * deletion.
 */
function leftAssignments({ vendor, caches }: Dependencies, writeMs: () => number): ReleaseDeps['unassign'] {
  const { assignments, providerIds } = vendor
  if (!assignments) return undefined
  return async ({ id, marks }, signal) => {
    const { machines = [] } = (await assignments.assignedAddress(id, signal)) ?? {}
    const ours = new Set(caches.nodes.list().map((node) => machineIdOf(node, providerIds)))
    if (machines.every((machine) => ours.has(machine)))
      await assignments.unassign({ id, marks: lastingMarks(marks) }, { signal, writeMs })
  }
}
