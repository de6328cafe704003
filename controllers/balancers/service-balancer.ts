import { hasBalancer } from '../../ledger/want/managed.ts'
import type { Balancer, Balancers, ListedBalancer, Origin, BalancerAnnotations } from '../../clouds/ports/balancers.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Key, type Service, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import type { ClusterState } from '../../ledger/identity/heartbeats.ts'
import type { Want } from '../../ledger/want/want.ts'
import { mapAll } from '../../lib/map-all.ts'
import { type Reconciler, runSteps } from '../loop/reconciler.ts'
import type { BalancerNames } from './balancer-names.ts'
import { type BalancerStep, planBalancer } from './balancer-plan.ts'
import { type BalancerSeen, inOrderOfUse, namedBalancer, requestOf } from './balancer-state.ts'
import { type BalancerStepDeps, carryOutBalancerStep } from './balancer-steps.ts'
import type { NodeOrigins } from './node-origins.ts'
import type { Sights } from '../../lib/sights.ts'

export type ServiceBalancerDeps = BalancerStepDeps & {
  client: KubeClient
  balancers: Balancers
  annotations: BalancerAnnotations
  cached: (key: Key) => Service | undefined
  want: (service: Service) => Want
  /** Whether the settings choose managed balancers. If not, we only delete those of an earlier setting. */
  isOn: boolean
  namesOf: (key: Key) => BalancerNames
  /** The nodes to which a balancer in this location sends connections. */
  nodes: (location: string | undefined) => NodeOrigins
  /** When each request noted on a Service was first seen, whichever process sent it. */
  sights: Sights
  /** Longer than any request may take: before that, a second request could create a second balancer. */
  requestMs: number
  /** Whether another cluster uses our id. A copy has the same Services, and its nodes would replace ours. */
  clusterState: () => ClusterState
}

/** More steps than any Service needs from nothing to settled. */
const maxSteps = 20

/** The first sweep of a new leader soon shows whether it leads a copy. */
const uncheckedMs = 200

/** How many reads of the provider run at the same time for one Service. */
const concurrency = 4

/** Gives a Service its managed balancer, maintains its ports and origins, and finally deletes it. */
export function serviceBalancer(deps: ServiceBalancerDeps): Reconciler {
  return {
    name: 'service-balancer',
    async reconcile(key, signal) {
      const cached = deps.cached(key)
      // Nearly all Services of a cluster are not concerned, and cost no call.
      if (!cached || !isConcerned(deps, cached)) return {}
      const state = deps.clusterState()
      if (state.kind === 'foreign') throw new Error(`no load balancer is changed: ${state.reason}`)
      if (state.kind === 'unchecked') return { againInMs: uncheckedMs }
      return runSteps(
        {
          look: (aborted) => look(deps, key, aborted),
          plan: (seen: BalancerSeen | undefined) => (seen ? planBalancer(seen) : {}),
          carryOut: async (step: BalancerStep, seen, aborted) =>
            seen && carryOutBalancerStep(deps, { step, seen }, aborted),
          maxSteps,
          nameOf,
        },
        signal,
      )
    },
  }
}

/** Ports change whenever a node joins or leaves, so only a repetition of the same change is a dispute. */
function nameOf(step: BalancerStep): string {
  return step.do === 'change-ports' ? `${step.do} ${JSON.stringify(step.changes)}` : step.do
}

/** Whether a Service has or wants a balancer. */
export function isConcerned(
  { want, isOn, annotations }: Pick<ServiceBalancerDeps, 'want' | 'isOn' | 'annotations'>,
  service: Service,
): boolean {
  if (hasBalancer(service)) return true
  return isOn && (want(service).kind === 'managed' || namedBalancer(service, annotations) !== undefined)
}

/** Reads the current state at the API server and the provider; undefined if the Service is deleted or needs no balancer. */
async function look(deps: ServiceBalancerDeps, key: Key, signal: AbortSignal): Promise<BalancerSeen | undefined> {
  const { client, balancers, annotations, sights, requestMs } = deps
  const service = await client.get(services, splitKey(key), { signal })
  if (!service || !isConcerned(deps, service)) return undefined
  const names = deps.namesOf(key)
  const request = requestOf(service)
  const isInFlight = sights.forMs(key, request) < requestMs && request !== undefined
  const [listed, all] = await Promise.all([balancers.list(signal), balancers.pools(signal)])
  const named = await findNamed(deps, { service, listed }, signal)
  const own = [...new Set(named ? [...listed, named] : listed)].filter(({ name }) => names.isBalancer(name))
  const read = await mapAll(own, ({ id }) => balancers.get(id, signal), concurrency)
  const found = inOrderOfUse(
    read.filter((balancer) => balancer !== undefined),
    service,
    annotations,
  )
  const pools = all.filter(({ name }) => names.portOfPool(name) !== undefined)
  return {
    service,
    wanted: deps.want(service),
    annotations,
    names,
    found,
    foreign: named && !names.isBalancer(named.name) ? named : undefined,
    pools,
    origins: await readOrigins(balancers, [...poolsOf(found), ...pools.map(({ id }) => id)], signal),
    ...deps.nodes(found[0]?.location),
    // A balancer is listed but not found: a change is in progress, and the next look shows its result.
    isInFlight: isInFlight || found.length < read.length,
  }
}

/** The balancer that the Service names, listed or not. A text that cannot be an id at the provider names none. */
async function findNamed(
  { balancers, annotations }: ServiceBalancerDeps,
  { service, listed }: { service: Service; listed: ListedBalancer[] },
  signal: AbortSignal,
): Promise<ListedBalancer | undefined> {
  const id = namedBalancer(service, annotations)
  if (id === undefined || !/^[\w-]{1,128}$/.test(id)) return undefined
  return listed.find((one) => one.id === id) ?? balancers.get(id, signal)
}

function poolsOf(balancers: Balancer[]): string[] {
  return balancers.flatMap(({ ports }) => ports.flatMap(({ pools }) => pools))
}

async function readOrigins(
  balancers: Balancers,
  pools: string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Origin[]>> {
  const read = await mapAll(
    [...new Set(pools)],
    async (pool) => [pool, await balancers.origins(pool, signal)] as const,
    concurrency,
  )
  return new Map(read.flatMap(([pool, origins]) => (origins ? [[pool, origins] as const] : [])))
}
