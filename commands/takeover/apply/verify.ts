// The differences between a Service after the takeover and its plan. A Service without differences was taken over.
import { isWritten } from '../../../announcers/shared/own-objects.ts'
import { announcingPool } from '../../../announcers/metallb/pools.ts'
import { parseAddress } from '../../../announcers/shared/address.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { listAll } from '../../../kube/list-all.ts'
import { type Key, type KubeObject, type Service, keyOf } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { type ElasticIP, elasticIPs, phaseOf, recordName } from '../../../ledger/record/elastic-ip.ts'
import { balancerFinalizer, serviceFinalizer } from '../../../ledger/record/names.ts'
import { shownAddresses, statusField } from '../../../ledger/record/address-use.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { counted } from '../../../lib/text.ts'
import { type AnnouncingNodes, type FoundBefore, metallbObjects, readAnnouncing } from '../found.ts'
import type { PlannedService } from '../plan/plan.ts'
import type { Missing, TakeoverStep } from '../steps.ts'

/** The state after a takeover: the Services that it took over, and those that users removed meanwhile. */
export type Verified = { services: number; gone: number; announcing: AnnouncingNodes | undefined }

type Deps = { client: KubeClient; planned: readonly PlannedService[]; found: FoundBefore }

/** Waits until every Service and every MetalLB object is as planned. `results` returns the state at the last look. */
export function verifyStep(deps: Deps): TakeoverStep & { results(): Verified } {
  const { planned, found } = deps
  const theirs = new Set(found.metallb?.objects.map(({ kind, name }) => `${kind} ${name}`))
  let last: Look = { there: [], metallb: [], announcing: undefined }
  return {
    title: `Adopt and verify ${counted(planned.length, 'Services')}`,
    async missing() {
      last = await look(deps)
      const open = openOf(last.there)
      const left = leftToTakeOver(last.metallb, theirs)
      if (open || left.length === 0) return open
      const count = theirs.size - left.length
      return { text: `${count} of ${theirs.size} objects of MetalLB are taken over; next ${left[0]}` }
    },
    results: () => ({
      services: last.there.length,
      gone: planned.length - last.there.length,
      announcing: last.announcing,
    }),
  }
}

/** The number of Services without a problem, and the problems of the next one. */
function openOf(there: readonly SeenService[]): Missing | undefined {
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
  service: Service
  record: ElasticIP | undefined
  /** The MetalLB objects in the predecessor's namespace for them; undefined if it wrote none. */
  metallb: readonly KubeObject[] | undefined
  announcing: { before: AnnouncingNodes | undefined; now: AnnouncingNodes | undefined }
}

type Look = { there: SeenService[]; metallb: KubeObject[]; announcing: AnnouncingNodes | undefined }

async function look({ client, planned, found }: Deps): Promise<Look> {
  const [stored, records, now, metallb] = await Promise.all([
    listAll(client, services),
    listAll(client, elasticIPs),
    readAnnouncing(client),
    found.metallb && metallbObjects(client, { namespace: found.metallb.namespace }),
  ])
  const byKey = new Map(stored.map((service) => [keyOf(service), service]))
  const byName = new Map(records.map((record) => [record.metadata.name, record]))
  const announcing = { before: found.announcing, now }
  const there = planned.flatMap((one): SeenService[] => {
    const key = `${one.namespace}/${one.name}`
    const service = byKey.get(key)
    if (!service || !isAsPlanned(service, one)) return []
    return [{ planned: one, service, record: byName.get(recordName(key)), metallb, announcing }]
  })
  return { there, metallb: metallb ?? [], announcing: now }
}

/** Whether a Service is still the planned one: users may delete Services or change their type at any time. */
export function isAsPlanned({ metadata, spec }: Service, { uid }: PlannedService): boolean {
  return metadata.uid === uid && metadata.deletionTimestamp === undefined && spec.type === 'LoadBalancer'
}

/** Everything about a Service that differs from the plan. */
export function serviceProblems({ planned, service, record, metallb, announcing }: SeenService): string[] {
  const isAdopted = planned.held === 'reserved' || planned.held === 'record'
  return [
    ...(isAdopted ? recordProblems(planned, record) : []),
    ...addressProblems(planned, service),
    ...finalizerProblems(planned, service),
    ...(isAdopted ? poolProblems(metallb, planned.before) : []),
    ...announcingProblems(keyOf(service), announcing.before, announcing.now),
  ]
}

/**
 * Why a record does not hold the reservation of a Service yet. Before the grant it may wait, because no program can
 * speed that up.
 */
function recordProblems({ before, after, uid }: PlannedService, record: ElasticIP | undefined): string[] {
  if (!record) return ['it has no ElasticIP yet']
  const { address: held, phase: stored } = record.status ?? {}
  const phase = phaseOf(record)
  const isWaiting = after === undefined && stored === 'Requested'
  const isOther = record.spec.claimRef?.uid !== uid
  const differs = held !== undefined && before !== undefined && canonicalIpAddress(held) !== before
  return [
    ...(phase !== 'Bound' && !isWaiting ? [`its ElasticIP is ${phase}`] : []),
    ...(phase === 'Bound' && isOther ? ['its ElasticIP is bound to an earlier Service of that name'] : []),
    ...(differs ? [`its ElasticIP has the address ${held}, not ${before}`] : []),
  ]
}

/** The places where a Service no longer shows its address. */
function addressProblems({ before, shownIn }: PlannedService, service: Service): string[] {
  const shown = shownAddresses(service, [])
  const isShown = (place: string) => shown.some(({ address, where }) => where === place && address === before)
  const places = [statusField, 'spec.loadBalancerIP'].filter((place) => shownIn.includes(place))
  return places.filter((place) => !isShown(place)).map((place) => `${place} does not show ${before}`)
}

const ownFinalizers: Partial<Record<PlannedService['held'], string>> = {
  reserved: serviceFinalizer,
  record: serviceFinalizer,
  own: serviceFinalizer,
  balancer: balancerFinalizer,
}

/** Other programs may remove their finalizers at any time. */
function finalizerProblems({ held }: PlannedService, { metadata }: Service): string[] {
  const wanted = ownFinalizers[held]
  return wanted === undefined || metadata.finalizers?.includes(wanted) ? [] : [`it lacks the finalizer ${wanted}`]
}

function poolProblems(metallb: readonly KubeObject[] | undefined, before = ''): string[] {
  const address = parseAddress(before)
  if (!metallb || !address) return []
  const pool = announcingPool(metallb, address)
  if (!pool) return ['no IPAddressPool has its address']
  return pool.isAdvertised ? [] : [`no BGPAdvertisement names IPAddressPool ${pool.name}`]
}

/** The announcements that a Service has lost since the takeover began. A Service without endpoints had none. */
function announcingProblems(key: Key, before: AnnouncingNodes | undefined, now: AnnouncingNodes | undefined): string[] {
  const earlier = before?.[key] ?? 0
  if (earlier === 0 || !now || (now[key] ?? 0) > 0) return []
  return [`${counted(earlier, 'nodes')} announced it before the takeover, and none does now`]
}

/** The predecessor's objects that are not taken over yet, because they change wave by wave. */
function leftToTakeOver(metallb: readonly KubeObject[], names: ReadonlySet<string>): string[] {
  const others = metallb.filter((object) => !isWritten(object))
  return others.map(({ kind, metadata }) => `${kind} ${metadata.name}`).filter((name) => names.has(name))
}
