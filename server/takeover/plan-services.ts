import { metallbSharingAnnotations } from '../../announcers/request-annotations.ts'
import type { Reservation } from '../../clouds/cloud.ts'
import type { KubeObject, Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { isInRanges, rangeSet } from '../../lib/ip-range.ts'
import { shownAddresses } from '../../ledger/record/address-use.ts'
import { type ElasticIP, heldAddress, reservationIdOf } from '../../ledger/record/elastic-ip.ts'
import { clusterOfOthers } from '../../ledger/record/marks.ts'
import type { Adoption } from '../../ledger/sweep/adopt.ts'
import { usedAddresses } from '../../ledger/want/address-users.ts'
import { type OwnAddressFacts, checkOwnAddress } from '../../ledger/want/own-address-rules.ts'
import type { Want } from '../../ledger/want/want.ts'
import type { Context, Values } from '../doctor/facts.ts'
import { isOf, schemeOf, wantOf } from '../doctor/wanted.ts'
import { allRequestAnnotations } from '../possible-users.ts'
import type { Finding, PlannedService } from './plan.ts'

export type ServiceFacts = Pick<Values, 'cluster' | 'services' | 'records' | 'reservations' | 'controlPlane'>

type Judged = { service: Service; planned: PlannedService; blockers: Finding[]; warnings: Finding[] }

export type ServicesPlan = { services: PlannedService[]; blockers: Finding[]; warnings: Finding[] }

/**
 * Each Service and its address, before and after. Pure.
 *
 * | the Service                                     | after                      | held            |
 * | ----------------------------------------------- | -------------------------- | --------------- |
 * | shows the control-plane address                 | the same                   | `control-plane` |
 * | has a record of ours                            | that of the record         | `record`        |
 * | has a reservation with its marks                | that of the reservation    | `reserved`      |
 * | names an address that it may have               | the same                   | `own`           |
 * | is served by a managed balancer                 | the same                   | `balancer`      |
 * | wants an address and shows none                 | none yet                   | `pending`       |
 * | wants an address, shows one that nobody has for it | none: this is a blocker | `pending`       |
 * | is none of ours                                 | the same                   | `ignored`       |
 */
export function planServices(facts: ServiceFacts, adopt: readonly Adoption[], context: Context): ServicesPlan {
  const own = ownFacts(facts, context)
  const adopted = new Map(adopt.map((one) => [one.key, one.reservation]))
  const judged = facts.services.filter(isConcerned).map((service) => {
    const wanted = checkOwnAddress(wantOf(service, context), service, own)
    return judge(service, { wanted, reservation: adopted.get(keyOf(service)), facts, own, context })
  })
  return {
    services: judged.map(({ planned }) => planned),
    blockers: [...judged.flatMap(({ blockers }) => blockers), ...sharedAddresses(judged).blockers],
    warnings: [...judged.flatMap(({ warnings }) => warnings), ...sharedAddresses(judged).warnings],
  }
}

/** Whether a Service is, or was, a load balancer. */
function isConcerned({ spec, status }: Service): boolean {
  return spec.type === 'LoadBalancer' || (status?.loadBalancer?.ingress?.length ?? 0) > 0
}

type Judging = {
  wanted: Want
  reservation: Reservation | undefined
  facts: ServiceFacts
  own: OwnAddressFacts
  context: Context
}

function judge(service: Service, judging: Judging): Judged {
  const { reservation, facts, context, wanted } = judging
  const { policy } = context.vendor
  const shown = shownAddresses(service, allRequestAnnotations(policy.requestAnnotations))
  const before = shown[0]?.address
  const record = facts.records.find((one) => isOf(one, service))
  const ended = endOf({ service, before, record, reservation, wanted, facts, context })
  const id = ended.reservationID
  const planned: PlannedService = {
    namespace: service.metadata.namespace ?? '',
    name: service.metadata.name,
    uid: service.metadata.uid ?? '',
    before,
    after: ended.after,
    ...(id !== undefined && { reservationID: id }),
    held: ended.held,
    finalizers: service.metadata.finalizers ?? [],
    shownIn: shown.filter(({ address }) => address === before).map(({ where }) => where),
  }
  return { service, planned, ...findingsOf(service, planned, judging) }
}

type Ended = Pick<PlannedService, 'after' | 'held' | 'reservationID'>

function endOf(of: {
  service: Service
  before: string | undefined
  record: ElasticIP | undefined
  reservation: Reservation | undefined
  wanted: Want
  facts: ServiceFacts
  context: Context
}): Ended {
  const { service, before, record, reservation, wanted, facts, context } = of
  if (keyOf(service) === context.vendor.policy.controlPlaneService) {
    const id = facts.controlPlane.find(({ address }) => canonicalIpAddress(address) === before)?.id
    return { after: before, held: 'control-plane', ...(id !== undefined && { reservationID: id }) }
  }
  const held = record && heldAddress(record)
  if (held !== undefined) return { after: held, held: 'record', ...idOf(record && reservationIdOf(record)) }
  if (reservation) return { after: canonical(reservation.address), held: 'reserved', reservationID: reservation.id }
  switch (wanted.kind) {
    case 'own': {
      const { id } = facts.reservations.find((one) => contains(one, wanted.address)) ?? {}
      return { after: wanted.address, held: 'own', ...idOf(id) }
    }
    case 'managed':
      return { after: before, held: 'balancer' }
    case 'reserve':
    case 'named':
      return { after: undefined, held: 'pending' }
    case 'wrong':
      return { after: before, held: before === undefined ? 'pending' : 'own' }
    case 'ignored':
    case 'foreign':
    case 'nothing':
      return { after: before, held: 'ignored' }
  }
}

function idOf(id: string | undefined): { reservationID?: string } {
  return id === undefined ? {} : { reservationID: id }
}

function findingsOf(
  service: Service,
  { before, after, held }: PlannedService,
  { wanted, own, context, reservation }: Judging,
): Pick<Judged, 'blockers' | 'warnings'> {
  const at = `-n ${service.metadata.namespace} ${service.metadata.name}`
  const where = `Service ${keyOf(service)}`
  if (service.metadata.deletionTimestamp !== undefined && held !== 'ignored') return blockedBy(beingDeleted(where, at))
  if (held === 'pending' && before !== undefined) return blockedBy(missing(where, before, context))
  if (before !== undefined && before !== after) {
    const holder = reservation ? `reservation ${reservation.id}` : 'its record'
    const what = `it shows ${before}, but ${holder} has ${after ?? 'no address yet'}`
    const remedy = `make both the same before: kubectl describe service ${at}`
    return blockedBy({ reason: 'address-differs', where, what, remedy })
  }
  if (held === 'own' && before !== undefined)
    return { blockers: doubtful(where, before, { wanted, own, context }), warnings: [] }
  return { blockers: [], warnings: warningsOf({ where, at, wanted, held }) }
}

function blockedBy(finding: Finding): Pick<Judged, 'blockers' | 'warnings'> {
  return { blockers: [finding], warnings: [] }
}

function beingDeleted(where: string, at: string): Finding {
  return {
    reason: 'service-being-deleted',
    where,
    what: 'it is being deleted, and the predecessor gives its address back',
    remedy: `wait until it is gone: kubectl wait --for=delete service ${at} --timeout=5m`,
  }
}

function warningsOf(of: { where: string; at: string; wanted: Want; held: PlannedService['held'] }): Finding[] {
  const { where, at, wanted, held } = of
  if (held !== 'pending') return []
  if (wanted.kind === 'wrong')
    return [
      {
        reason: 'contradictory-service',
        where,
        what: wanted.problems.join('; '),
        remedy: `correct it: kubectl edit service ${at}`,
      },
    ]
  return [
    {
      reason: 'service-pending',
      where,
      what: 'it has no address yet; `serve` reserves one for it, as the predecessor would',
      remedy: `nothing, or delete it before: kubectl delete service ${at}`,
    },
  ]
}

function missing(where: string, address: string, { vendor }: Context): Finding {
  return {
    reason: 'reservation-missing',
    where,
    what: `it shows ${address}, which no reservation of the project at ${vendor.cloud.name} has for it: the cloud may give the address to somebody else`,
    remedy: 'reserve it again at the cloud, or delete the Service and create it again; then run takeover plan again',
  }
}

/** Why an own address would not stay for certain. */
function doubtful(
  where: string,
  before: string,
  { wanted, own, context }: Pick<Judging, 'wanted' | 'own' | 'context'>,
): Finding[] {
  const problem =
    wanted.kind === 'wrong' ? wanted.problems.join('; ') : wanted.kind === 'own' ? wanted.doubt?.reason : undefined
  const address = parseIpAddress(before)
  if (problem === undefined || !address) return []
  const others = own.marksOfOthers(address)
  if (others)
    return [
      {
        reason: 'other-cluster',
        where,
        what: `it shows ${before}, whose reservation names another cluster (cluster=${others['cluster']})`,
        remedy: `if that is this cluster by a former id, as after a restore from a backup: takeover plan --cluster-id=${others['cluster']}`,
      },
    ]
  if (own.isReserved(address) === false && !own.isInRanges(address)) return [missing(where, before, context)]
  return [{ reason: 'own-address', where, what: problem, remedy: 'give it another address before the takeover' }]
}

function sharingKey({ metadata }: KubeObject): string | undefined {
  return metallbSharingAnnotations.map((name) => metadata.annotations?.[name]).find((key) => key !== undefined)
}

/** Addresses that several Services show. MetalLB lets those with one sharing key have one address. */
function sharedAddresses(judged: readonly Judged[]): Pick<Judged, 'blockers' | 'warnings'> {
  const blockers: Finding[] = []
  const warnings: Finding[] = []
  const groups = Map.groupBy(judged, ({ planned }) => planned.before)
  for (const [address, group] of groups) {
    if (address === undefined || group.length < 2) continue
    const namespaces = new Set(group.map(({ planned }) => planned.namespace))
    const keys = new Set(group.map(({ service }) => sharingKey(service)))
    const finding: Finding = {
      reason: 'shared-address',
      where: group.map(({ service }) => `Service ${keyOf(service)}`).join(', '),
      what: `they show one address, ${address}`,
      remedy: 'give all but one of them another address',
    }
    if (namespaces.size > 1) blockers.push(finding)
    else if (keys.size > 1 || keys.has(undefined)) warnings.push(finding)
  }
  return { blockers, warnings }
}

/** What decides about own addresses, from what was read. */
function ownFacts({ cluster, services, records, reservations }: ServiceFacts, context: Context): OwnAddressFacts {
  const { requestAnnotations } = context.vendor.policy
  const scheme = schemeOf(cluster, context)
  const of = (address: string) => reservations.find((one) => contains(one, address))
  return {
    // The predecessor announced it all the same, and a range of the cluster is found by `serve`.
    clusterNetwork: () => undefined,
    isInRanges: rangeSet(context.settings.cluster.ownAddressRanges),
    isReserved: (address) => of(address.text) !== undefined,
    marksOfOthers: (address) => {
      const marks = of(address.text)?.marks
      return marks && clusterOfOthers(scheme, marks) !== undefined ? marks : undefined
    },
    records: (address) => records.filter(({ status }) => canonicalIpAddress(status?.address ?? '') === address.text),
    users: (address) => services.filter((service) => usedAddresses(service, requestAnnotations).includes(address)),
  }
}

/** Whether a reservation, which may be a network, has an address. */
function contains({ address: first, prefixLength = 32 }: Reservation, address: string): boolean {
  const parsed = parseIpAddress(address)
  if (first === undefined || !parsed) return false
  return canonicalIpAddress(first) === parsed.text || isInRanges(parsed, [`${first}/${prefixLength}`])
}

function canonical(address: string | undefined): string | undefined {
  return address === undefined ? undefined : canonicalIpAddress(address)
}
