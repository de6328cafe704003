import { balancerNames } from './balancer-names.ts'
import { isConcerned, serviceBalancer } from './service-balancer.ts'
import { nodeOrigins, originFacts } from './node-origins.ts'
import { sights } from '../../lib/sights.ts'
import { type ControllerDeclaration, periodicWork } from '../loop/controller.ts'
import type { Reconciler } from '../loop/reconciler.ts'
import { watch } from '../loop/watch.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { ManagedBalancers } from '../../clouds/ports/cloud-provider.ts'
import type { Dependencies } from '../dependencies.ts'
import { failureEvent } from '../loop/reconcile-key.ts'
import type { Balancers, ListedBalancer, BalancerAnnotations } from '../../clouds/ports/balancers.ts'
import { namedBalancer } from './balancer-state.ts'

type Deps = Pick<
  Dependencies,
  'client' | 'caches' | 'ledger' | 'want' | 'events' | 'metrics' | 'vendor' | 'settings' | 'machines' | 'cluster'
>

/** How long node changes are gathered: fifty nodes that join at once cause a single update of each pool. */
const gatherMs = 2_000

/** Repairs changes that others made to a balancer. */
const resyncMs = 10 * 60_000

/** How often a list shows which balancers are deleted, so that their Services are repaired at once. */
const refreshMs = 60_000

/** Gives Services their managed balancers, if the provider has them. */
export function balancerControllers(deps: Deps): ControllerDeclaration[] {
  const { managedBalancers } = deps.vendor
  if (!managedBalancers) return []
  const made = makeDeps(deps, managedBalancers)
  const served = () => deps.caches.services.list().filter((service) => isConcerned(made, service))
  const refresh = balancerRefresh({ ...made, served })
  const parts = { reconciler: serviceBalancer(made), served: () => served().map(keyOf), refresh }
  return [balancerController(deps, parts), refreshController(deps, refresh)]
}

function refreshController({ caches }: Deps, refresh: BalancerRefresh): ControllerDeclaration {
  return {
    ...periodicWork({ name: 'balancer-refresh', run: refresh.run, everyMs: refreshMs }),
    needs: [caches.services],
    retry: { firstMs: 1000, maxMs: resyncMs },
  }
}

type Parts = { reconciler: Reconciler; served: () => Key[]; refresh: BalancerRefresh }

function balancerController(deps: Deps, { reconciler, served, refresh }: Parts): ControllerDeclaration {
  const { caches, settings } = deps
  const { services, records, nodes } = caches
  return {
    reconciler,
    watches: [
      watch(services, (key) => [key]),
      watch(refresh, (key) => [key]),
      watch(
        nodes,
        (_name, current, previous) => (originFacts(current) === originFacts(previous) ? [] : served()),
        gatherMs,
      ),
    ],
    // Without the nodes, every pool would lose its origins. Without the records, a movable address could become an
    // origin.
    needs: [services, records, nodes],
    keys: served,
    resyncMs,
    concurrency: settings.process.concurrentServiceSyncs,
    retry: { firstMs: 500, maxMs: 300_000 },
    report: failureEvent({
      events: deps.events.of('service-controller'),
      find: (key) => services.get(key),
      reason: 'SyncLoadBalancerFailed',
      prefix: 'Error syncing load balancer: ',
    }),
  }
}

function makeDeps(deps: Deps, { client: balancers, annotations, formerName, isElsewhere }: ManagedBalancers) {
  const { client, caches, cluster, settings, vendor } = deps
  const { cloudTimeoutMs } = settings.cluster
  const monotonicMs = () => performance.now()
  const events = deps.events.of('service-controller')
  return {
    client,
    balancers,
    annotations,
    want: deps.want,
    isOn: vendor.policy.managed !== undefined,
    monotonicMs,
    budgetMs: 1.5 * cloudTimeoutMs,
    sights: sights(monotonicMs),
    requestMs: 2 * cloudTimeoutMs,
    clusterState: () => deps.ledger.heartbeats.state(),
    cached: (key: Key) => caches.services.get(key),
    namesOf: (key: Key) =>
      balancerNames({ key, cluster, former: formerName(serviceMarks({ ...vendor.marks, cluster }, key)) }),
    nodes: (location = vendor.policy.managed?.location) => {
      const elastic = elasticAddresses(deps)
      return nodeOrigins(caches.nodes.list(), {
        ids: vendor.providerIds,
        machines: deps.machines.latest(),
        isElastic: (address: string) => elastic.has(canonicalIpAddress(address)),
        isElsewhere: (region: string) => location !== undefined && isElsewhere(region, location),
      })
    },
    event: (...event: Parameters<typeof events.record>) => events.record(...event),
    onMissedByAdmission: () => deps.metrics.add('eip_admission_services_without_admission_total', {}),
  }
}

/** Addresses that may move to another machine, including the control-plane address. A predecessor wrote them on nodes. */
function elasticAddresses({ caches, machines }: Deps): ReadonlySet<string | undefined> {
  const ofMachines = (machines.latest() ?? []).flatMap(({ addresses }) =>
    addresses.filter(({ isElastic }) => isElastic).map(({ address }) => address),
  )
  const ofServices = caches.services.list().flatMap(({ spec }) => spec.loadBalancerIP ?? [])
  const ofRecords = caches.records.list().flatMap(({ status }) => status?.address ?? [])
  return new Set([...ofMachines, ...ofServices, ...ofRecords].map((address) => canonicalIpAddress(address)))
}

type BalancerRefreshDeps = {
  balancers: Pick<Balancers, 'list'>
  annotations: BalancerAnnotations
  /** The Services that have or want a balancer. */
  served: () => readonly Service[]
}

type BalancerRefresh = {
  run: (signal: AbortSignal) => Promise<undefined>
  /** Calls the listener with each Service whose balancer is missing from the list. */
  onChange(listener: (key: Key) => void): void
}

/** Lists the balancers of the project, because nothing notifies us when a person deletes one. */
export function balancerRefresh({ balancers, annotations, served }: BalancerRefreshDeps): BalancerRefresh {
  const listeners: ((key: Key) => void)[] = []
  return {
    onChange: (listener) => void listeners.push(listener),
    async run(signal) {
      if (!served().some((service) => namedBalancer(service, annotations) !== undefined)) return
      const listed = await balancers.list(signal)
      for (const key of withoutBalancer(served(), { listed, annotations }))
        for (const listener of listeners) listener(key)
    },
  }
}

/** The Services that name a balancer missing from a list. The list proves nothing, so each is checked separately. Pure. */
export function withoutBalancer(
  services: readonly Service[],
  { listed, annotations }: { listed: readonly ListedBalancer[]; annotations: BalancerAnnotations },
): Key[] {
  const ids = new Set<string | undefined>(listed.map(({ id }) => id))
  return services
    .filter((service) => {
      const named = namedBalancer(service, annotations)
      return named !== undefined && !ids.has(named)
    })
    .map(keyOf)
}
