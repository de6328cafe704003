import { certificatesIn } from '../certs/bundle.ts'
import type { CertSource } from '../certs/cert-source.ts'
import type { Base } from './base.ts'
import type { Components } from './components.ts'
import type { Context } from './context.ts'
import type { ControlPlaneGuardian } from '../controllers/control-plane/control-plane-guardian.ts'
import type { Checks } from './health-checks.ts'
import type { PageFacts } from '../status-page/model.ts'

/** The facts of a process with webhooks or controllers: the contents of its caches, and no more. It makes no calls. */
export function serveFacts(context: Context, components: Components, checks: Checks): PageFacts {
  const { settings, vendor, cluster, identity } = context
  const { caches, leadership, locations, machines, peerFacts, queues, certs, guardian } = components
  const { maxAddresses, maxAddressesPerNamespace } = settings.cluster
  const isLeader = leadership?.isLeader() ?? false
  const ofProcess = processFacts(context, certificateFacts(certs))
  return {
    ...sharedFacts(context, checks, guardian),
    process: { ...ofProcess, cluster, caches: cacheFacts(caches) },
    cloud: { ...cloudFacts(context), locations: locations.current()?.length },
    addresses: {
      records: caches.records.list(),
      service: (key) => caches.services.get(key),
      limits: { cluster: maxAddresses, namespace: maxAddressesPerNamespace },
    },
    nodes: leadership && {
      nodes: caches.nodes.list(),
      ids: vendor.providerIds,
      machines: machines.latest(),
      peers: (node) => peerFacts.get(node)?.peers,
      usesBgp: vendor.bgp.isOn,
      isLeader,
    },
    controllers: leadership && { isLeader, queues: queues(), totals: context.activity.reconciles() },
    leader: leadership && { isHere: isLeader, identity: isLeader ? identity : leadership.holder() },
  }
}

/** The facts of a process that runs only the guardian. */
export function guardianFacts(base: Base, guardian: ControlPlaneGuardian, checks: Checks): PageFacts {
  return {
    ...sharedFacts(base, checks, guardian),
    process: { ...processFacts(base, undefined), caches: [] },
    cloud: { ...cloudFacts(base), locations: undefined },
  }
}

function sharedFacts({ events }: Base, { live, ready, details }: Checks, guardian: ControlPlaneGuardian | undefined) {
  const controlPlane = guardian?.facts()
  const problems = [
    ...[...live, ...ready].map((check) => ({ ...check, tone: 'bad' as const })),
    ...details.map((check) => ({ ...check, tone: 'warn' as const })),
  ].flatMap(({ name, problem, tone }) => {
    const reason = problem()
    return reason === undefined ? [] : [{ name, reason, tone }]
  })
  return { events: events.recent(), controlPlane, problems }
}

function processFacts(
  { version, identity }: Base,
  certificate: PageFacts['process']['certificate'],
): Omit<PageFacts['process'], 'caches'> {
  const residentBytes = process.memoryUsage.rss()
  return { version, identity, cluster: undefined, startedAtMs: performance.timeOrigin, residentBytes, certificate }
}

function certificateFacts(certs: CertSource): PageFacts['process']['certificate'] {
  const ends = certificatesIn(certs.caBundle()).map(({ validToDate }) => validToDate.getTime())
  return { notAfterMs: certs.notAfterMs(), authorityEndsMs: ends.length === 0 ? undefined : Math.min(...ends) }
}

function cacheFacts(caches: Components['caches']): PageFacts['process']['caches'] {
  return Object.entries(caches).map(([name, cache]) => ({
    name,
    objects: cache.list().length,
    hasSynced: cache.hasSynced(),
    silentMs: cache.silentForMs(),
  }))
}

function cloudFacts({ vendor, activity }: Base): Omit<PageFacts['cloud'], 'locations'> {
  const calls = activity.calls()
  const times = calls.flatMap(({ succeededAtMs = [] }) => succeededAtMs)
  return { name: vendor.cloud.name, calls, lastSuccessAtMs: times.length === 0 ? undefined : Math.max(...times) }
}
