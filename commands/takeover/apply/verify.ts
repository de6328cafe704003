// The differences between a Service after the takeover and its plan. Without any it was taken over.
import { isWritten } from '../../../announcers/shared/own-objects.ts'
import { announcingPool } from '../../../announcers/metallb/pools.ts'
import { isAdvertisement, isPeer, isPool, metallbKinds } from '../../../announcers/metallb/resources.ts'
import { parseAddress } from '../../../announcers/shared/address.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { listAll, listAllKnown } from '../../../kube/list-all.ts'
import { type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { type ElasticIP, elasticIPs, phaseOf, recordName } from '../../../ledger/record/elastic-ip.ts'
import { balancerFinalizer, serviceFinalizer } from '../../../ledger/record/names.ts'
import { statusAddresses } from '../../../ledger/record/shown.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { counted } from '../../../lib/text.ts'
import type { FoundBefore } from '../found.ts'
import type { PlannedService } from '../plan/plan.ts'
import { type Routes, readRoutes, routeProblems } from '../routes.ts'
import type { Missing, TakeoverStep } from '../steps.ts'

/** The state after a takeover. */
export type Verified = {
  services: { service: string; address: string | undefined; isGone: boolean }[]
  routes: Routes
}

type Deps = { client: KubeClient; planned: readonly PlannedService[]; found: FoundBefore }

/** Waits until every Service, and every object of MetalLB, is as the plan says. `results` says what was seen last. */
export function verifyStep(deps: Deps): TakeoverStep & { results(): Verified } {
  const theirs = new Set(deps.found.metallb?.objects.map(({ kind, name }) => `${kind} ${name}`))
  let last: Look = { seen: [], metallb: [], routes: { announcingNodes: undefined, sessions: undefined } }
  return {
    title: `Adopt and verify ${counted(deps.planned.length, 'Services')}`,
    async missing() {
      last = await look(deps)
      const open = openOf(last.seen)
      const left = leftToTakeOver(last.metallb, theirs)
      if (open || left.length === 0) return open
      const count = theirs.size - left.length
      return { text: `${count} of ${theirs.size} objects of MetalLB are taken over; next ${left[0]}` }
    },
    results: () => ({
      services: last.seen.map((one) => ({
        service: `${one.planned.namespace}/${one.planned.name}`,
        address: one.planned.before,
        isGone: !isThere(one),
      })),
      routes: last.routes,
    }),
  }
}

/** The count of remaining Services without a problem, and the problems of the next one. */
function openOf(seen: readonly SeenService[]): Missing | undefined {
  const there = seen.filter(isThere)
  const [first, ...more] = there.filter((one) => serviceProblems(one).length > 0)
  if (!first) return undefined
  const { namespace, name } = first.planned
  const count = `${there.length - more.length - 1} of ${there.length}`
  return {
    text: `${count} Services are as planned; Service ${namespace}/${name}: ${serviceProblems(first).join('; ')}`,
    hint: `if nothing changes: \`kubectl describe service -n ${namespace} ${name}\``,
  }
}

/** The objects that the cluster has for one planned Service. */
export type SeenService = {
  planned: PlannedService
  service: Service | undefined
  record: ElasticIP | undefined
  /** The objects of MetalLB in the namespace where the predecessor wrote its own; undefined where it wrote none. */
  metallb: readonly KubeObject[] | undefined
  routes: { before: Routes | undefined; now: Routes }
}

type Look = { seen: SeenService[]; metallb: KubeObject[]; routes: Routes }

async function look({ client, planned, found }: Deps): Promise<Look> {
  const { namespace } = found.metallb ?? {}
  const kinds = namespace === undefined ? [] : metallbKinds
  const [stored, records, routes, objects] = await Promise.all([
    listAll(client, services),
    listAll(client, elasticIPs),
    readRoutes(client),
    Promise.all(kinds.map((kind) => listAllKnown(client, kind, namespace === undefined ? {} : { namespace }))),
  ])
  const metallb = objects.flat()
  const byKey = new Map(stored.map((service) => [keyOf(service), service]))
  const byName = new Map(records.map((record) => [record.metadata.name, record]))
  const seen = planned.map((one): SeenService => {
    const key = `${one.namespace}/${one.name}`
    const facts = { planned: one, service: byKey.get(key), record: byName.get(recordName(key)) }
    return { ...facts, metallb: found.metallb && metallb, routes: { before: found.routes, now: routes } }
  })
  return { seen, metallb, routes }
}

/** Whether a Service still exists as the plan saw it: users may delete Services, or change their type, at any time. */
export function isThere({ planned, service }: SeenService): boolean {
  if (service?.metadata.uid !== planned.uid || service.metadata.deletionTimestamp) return false
  return service.spec.type === 'LoadBalancer' || planned.held === 'ignored'
}

/** Everything about a Service that is not as the plan says. */
export function serviceProblems({ planned, service, record, metallb, routes }: SeenService): string[] {
  if (!service || planned.held === 'ignored') return []
  const { before, held } = planned
  const address = before === undefined ? undefined : (canonicalIpAddress(before) ?? before)
  const isAdopted = held === 'reserved' || held === 'record'
  return [
    ...(isAdopted ? recordProblems(planned, record, address) : []),
    ...(address === undefined ? [] : addressProblems(planned, service, address)),
    ...finalizerProblems(planned, service),
    ...(isAdopted && address !== undefined ? poolProblems(metallb, address) : []),
    ...routeProblems(keyOf(service), routes.before, routes.now),
  ]
}

/** Why a record does not hold the reservation of a Service yet. Before its grant it may wait: no program can hasten that. */
function recordProblems(
  { before, after, uid }: PlannedService,
  record: ElasticIP | undefined,
  address: string | undefined,
): string[] {
  if (!record) return ['it has no ElasticIP yet']
  const { address: held, phase: stored } = record.status ?? {}
  const phase = phaseOf(record)
  const isWaiting = after === undefined && stored === 'Requested'
  const isOther = record.spec.claimRef?.uid !== uid
  return [
    ...(phase !== 'Bound' && !isWaiting ? [`its ElasticIP is ${phase}`] : []),
    ...(phase === 'Bound' && isOther ? ['its ElasticIP is bound to an earlier Service of that name'] : []),
    ...(held !== undefined && address !== undefined && !isSame(held, address)
      ? [`its ElasticIP has the address ${held}, not ${before}`]
      : []),
  ]
}

function addressProblems({ before, shownIn }: PlannedService, service: Service, address: string): string[] {
  const { loadBalancerIP } = service.spec
  const shown = statusAddresses(service)
  return [
    ...(shownIn.includes('spec.loadBalancerIP') && !isSame(loadBalancerIP, address)
      ? [`spec.loadBalancerIP is ${loadBalancerIP ?? 'empty'}, not ${before}`]
      : []),
    ...(shownIn.includes('status.loadBalancer') && !shown.includes(address)
      ? [`its status shows ${shown.join(', ') || 'no address'}, not ${before}`]
      : []),
  ]
}

const ownFinalizers: Partial<Record<PlannedService['held'], string>> = {
  reserved: serviceFinalizer,
  record: serviceFinalizer,
  own: serviceFinalizer,
  balancer: balancerFinalizer,
}

function finalizerProblems({ held, finalizers }: PlannedService, { metadata }: Service): string[] {
  const there = metadata.finalizers ?? []
  const wanted = [ownFinalizers[held] ?? [], finalizers].flat()
  return wanted.filter((one) => !there.includes(one)).map((one) => `it lacks the finalizer ${one}`)
}

function poolProblems(metallb: readonly KubeObject[] | undefined, text: string): string[] {
  const address = parseAddress(text)
  if (!metallb || !address) return []
  const pool = announcingPool(metallb, address)
  if (!pool) return ['no IPAddressPool has its address']
  return pool.isAdvertised ? [] : [`no BGPAdvertisement names IPAddressPool ${pool.name}`]
}

/** The peers and pools of a predecessor that are not taken over yet. They go one wave after the other. */
function leftToTakeOver(metallb: readonly KubeObject[], names: ReadonlySet<string>): string[] {
  return metallb
    .filter((object) => (isPeer(object) || isPool(object) || isAdvertisement(object)) && !isWritten(object))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => names.has(name))
}

function isSame(one: string | undefined, canonical: string): boolean {
  return one !== undefined && (canonicalIpAddress(one) ?? one) === canonical
}
