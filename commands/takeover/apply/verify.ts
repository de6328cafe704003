// The differences between a Service after the takeover and its plan. Without any it was taken over.
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { parseAddress } from '../../../announcers/shared/address.ts'
import { announcingPool } from '../../../announcers/metallb/pools.ts'
import { isWritten } from '../../../announcers/metallb/ownership.ts'
import { isAdvertisement, isPeer, isPool } from '../../../announcers/metallb/resources.ts'
import { type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { type ElasticIP, phaseOf } from '../../../ledger/record/elastic-ip.ts'
import { balancerFinalizer, serviceFinalizer } from '../../../ledger/record/names.ts'
import { statusAddresses } from '../../../ledger/record/shown.ts'
import type { PlannedService } from '../plan/plan.ts'
import { type Routes, routeProblems } from '../routes.ts'

/** The objects that the cluster has for one planned Service. */
export type SeenService = {
  planned: PlannedService
  service: Service | undefined
  record: ElasticIP | undefined
  /** The objects of MetalLB in the namespace where the predecessor wrote its own; undefined where it wrote none. */
  metallb: readonly KubeObject[] | undefined
  routes: { before: Routes | undefined; now: Routes }
}

/** Whether a Service still exists as the plan saw it: users may delete Services, or change their type, at any time. */
export function isThere({ planned, service }: SeenService): boolean {
  if (service?.metadata.uid !== planned.uid || service.metadata.deletionTimestamp) return false
  return service.spec.type === 'LoadBalancer' || planned.held === 'ignored'
}

/**
 * Why the reservation of a Service is not adopted yet; empty if a record holds it for this Service, or waits for its grant.
 */
function adoptionProblems({ planned, record }: SeenService): string[] {
  if (!isAdopted(planned)) return []
  if (!record) return ['it has no ElasticIP yet']
  const phase = phaseOf(record)
  // Nobody knows when the cloud grants it, and the predecessor waited for it too.
  if (planned.after === undefined && record.status?.phase === 'Requested') return []
  if (phase !== 'Bound') return [`its ElasticIP is ${phase}`]
  const isOther = record.spec.claimRef?.uid !== planned.uid
  return isOther ? ['its ElasticIP is bound to an earlier Service of that name'] : []
}

/** Whether the takeover writes a record for a Service, or has written it. */
function isAdopted({ held }: PlannedService): boolean {
  return held === 'reserved' || held === 'record'
}

/** Everything about a Service that is not as the plan says. */
export function serviceProblems(seen: SeenService): string[] {
  const { planned, service, record } = seen
  if (!service || planned.held === 'ignored') return []
  const { before } = planned
  const address = before === undefined ? undefined : (canonicalIpAddress(before) ?? before)
  const held = isAdopted(planned) ? record?.status?.address : undefined
  return [
    ...adoptionProblems(seen),
    ...(held !== undefined && address !== undefined && !isSame(held, address)
      ? [`its ElasticIP has the address ${held}, not ${before}`]
      : []),
    ...addressProblems(planned, service, address),
    ...finalizerProblems(planned, service),
    ...(isAdopted(planned) && address !== undefined ? poolProblems(seen.metallb, address) : []),
    ...routeProblems(keyOf(service), seen.routes.before, seen.routes.now),
  ]
}

function addressProblems({ before, shownIn }: PlannedService, service: Service, address: string | undefined): string[] {
  if (address === undefined) return []
  const { loadBalancerIP } = service.spec
  const ofSpec =
    shownIn.includes('spec.loadBalancerIP') && !isSame(loadBalancerIP, address)
      ? [`spec.loadBalancerIP is ${loadBalancerIP ?? 'empty'}, not ${before}`]
      : []
  const shown = statusAddresses(service)
  const ofStatus =
    shownIn.includes('status.loadBalancer') && !shown.includes(address)
      ? [`its status shows ${shown.join(', ') || 'no address'}, not ${before}`]
      : []
  return [...ofSpec, ...ofStatus]
}

function finalizerProblems({ held, finalizers }: PlannedService, { metadata }: Service): string[] {
  const there = metadata.finalizers ?? []
  const ours = {
    reserved: serviceFinalizer,
    record: serviceFinalizer,
    own: serviceFinalizer,
    balancer: balancerFinalizer,
  }
  const own = held in ours ? [ours[held as keyof typeof ours]] : []
  return [...own, ...finalizers].filter((one) => !there.includes(one)).map((one) => `it lacks the finalizer ${one}`)
}

function poolProblems(metallb: readonly KubeObject[] | undefined, text: string): string[] {
  const address = parseAddress(text)
  if (!metallb || !address) return []
  const pool = announcingPool(metallb, address)
  if (!pool) return ['no IPAddressPool has its address']
  return pool.isAdvertised ? [] : [`no BGPAdvertisement names IPAddressPool ${pool.name}`]
}

/** The peers and pools of a predecessor that are not taken over yet. They go one wave after the other. */
export function leftToTakeOver(metallb: readonly KubeObject[], names: ReadonlySet<string>): string[] {
  return metallb
    .filter((object) => (isPeer(object) || isPool(object) || isAdvertisement(object)) && !isWritten(object))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => names.has(name))
}

function isSame(one: string | undefined, canonical: string | undefined): boolean {
  return one !== undefined && (canonicalIpAddress(one) ?? one) === canonical
}
