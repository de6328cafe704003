import { type Service, ingressOf, keyOf } from '../../../kube/objects.ts'
import { shownAddresses } from '../../../ledger/record/address-use.ts'
import { heldAddress, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import type { Adoption } from '../../../ledger/sweep/adopt.ts'
import { namedCluster } from '../../../ledger/record/marks.ts'
import { type OwnAddressFacts, checkOwnAddress } from '../../../ledger/want/own-address-rules.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { canonicalIpAddress, parseIpAddress } from '../../../lib/ip-address.ts'
import { shell } from '../../../lib/remedy.ts'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { Context } from '../../../inspect/facts.ts'
import { covers, isOf, ownAddressFacts, wantOf } from '../../../inspect/wanted.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import type { ServiceFacts } from './facts.ts'
import { type PlanFinding, type PlanFindings, type PlannedService, blocker, warning } from './plan.ts'

/** A Service, and the facts that determine its address. */
type SeenService = {
  service: Service
  wanted: Want
  /** The reservation with its marks. */
  reservation: Reservation | undefined
  facts: ServiceFacts
  own: OwnAddressFacts
  context: Context
}

/** Plans each Service with its address before and after. Pure. */
export function planServices(
  facts: ServiceFacts,
  adopt: readonly Adoption[],
  context: Context,
): { services: PlannedService[]; findings: PlanFinding[] } {
  const own = ownAddressFacts(facts, context)
  const adopted = new Map(adopt.map((one) => [one.key, one.reservation]))
  const judged = facts.services.filter(isConcerned).map((service) => {
    const wanted = checkOwnAddress(wantOf(service, context), service, own)
    const seen = { service, wanted, reservation: adopted.get(keyOf(service)), facts, own, context }
    return { ...seen, planned: planService(seen) }
  })
  return {
    services: judged.map(({ planned }) => planned),
    findings: judged.flatMap(serviceFindings),
  }
}

/** Whether a Service is, or was, a load balancer. */
function isConcerned(service: Service): boolean {
  return service.spec.type === 'LoadBalancer' || ingressOf(service).length > 0
}

function planService(seen: SeenService): PlannedService {
  const { service, context } = seen
  const shown = shownAddresses(service, allRequestAnnotations(context.vendor.policy.requestAnnotations))
  const before = shown[0]?.address
  const { after, held, reservationID } = afterwards(seen, before)
  return {
    namespace: service.metadata.namespace ?? '',
    name: service.metadata.name,
    uid: service.metadata.uid ?? '',
    before,
    after,
    ...(reservationID !== undefined && { reservationID }),
    held,
    finalizers: service.metadata.finalizers ?? [],
    shownIn: shown.filter(({ address }) => address === before).map(({ where }) => where),
  }
}

/** The address of a Service after the takeover, and what holds it. */
function afterwards(
  { service, reservation, wanted, facts, context }: SeenService,
  before: string | undefined,
): Pick<PlannedService, 'after' | 'held'> & { reservationID?: string | undefined } {
  if (keyOf(service) === context.vendor.policy.controlPlaneService) {
    const id = facts.controlPlane.find(({ address }) => canonicalIpAddress(address) === before)?.id
    return { after: before, held: 'control-plane', reservationID: id }
  }
  const record = facts.records.find((one) => isOf(one, service))
  const held = record && heldAddress(record)
  if (held !== undefined) return { after: held, held: 'record', reservationID: record && reservationIdOf(record) }
  if (reservation) {
    const { id, address } = reservation
    return { after: address && canonicalIpAddress(address), held: 'reserved', reservationID: id }
  }
  switch (wanted.kind) {
    case 'own': {
      const found = facts.reservations.find((one) => covers(one, wanted.address))
      return { after: wanted.address, held: 'own', reservationID: found?.id }
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

/** A Service with its part of the plan. */
type JudgedService = SeenService & { planned: PlannedService }

/** The findings of a Service. */
function serviceFindings(judged: JudgedService): PlanFindings {
  const { service, wanted, reservation, planned } = judged
  const { before, after, held } = planned
  const at = `-n ${service.metadata.namespace} ${service.metadata.name}`
  const where = `Service ${keyOf(service)}`
  if (service.metadata.deletionTimestamp !== undefined && held !== 'ignored') {
    const what = 'it is being deleted, and the predecessor releases its address'
    const remedy = shell`kubectl wait --for=delete service ${at} --timeout=5m   # waits until it no longer exists`
    return blocker('service-being-deleted', where, { what, remedy })
  }
  if (held === 'pending' && before !== undefined) return missing(judged)
  if (held === 'pending' && wanted.kind === 'wrong') {
    const remedy = shell`kubectl edit service ${at}   # correct it`
    return warning('contradictory-service', where, { what: wanted.problems.join('; '), remedy })
  }
  if (held === 'pending') {
    const what = 'it has no address yet; `serve` reserves one for it, as the predecessor would'
    const remedy = `nothing, or delete it before: \`kubectl delete service ${at}\``
    return warning('service-pending', where, { what, remedy })
  }
  if (before !== undefined && before !== after) {
    const holder = reservation ? `reservation ${reservation.id}` : 'its record'
    const what = `it shows ${before}, but ${holder} has ${after ?? 'no address yet'}`
    const remedy = shell`kubectl describe service ${at}   # make both match before the takeover`
    return blocker('address-differs', where, { what, remedy })
  }
  return held === 'own' && before !== undefined ? doubts(judged, before) : []
}

function missing({ service, planned, context: { vendor } }: JudgedService): PlanFinding {
  return blocker('reservation-missing', `Service ${keyOf(service)}`, {
    what: `it shows ${planned.before}, which no reservation of the project at ${vendor.cloud.name} has for it: the provider may give the address to another customer`,
    remedy: 'reserve it again at the provider, or delete the Service and create it again; then run takeover plan again',
  })
}

/** The doubts about keeping a user-chosen address. */
function doubts(judged: JudgedService, before: string): PlanFindings {
  const { service, wanted, own } = judged
  const doubt = wanted.kind === 'own' ? wanted.doubt : undefined
  const what = wanted.kind === 'wrong' ? wanted.problems.join('; ') : doubt?.reason
  const address = parseIpAddress(before)
  if (what === undefined || !address) return []
  const where = `Service ${keyOf(service)}`
  // Only a warning, because it worked with the predecessor: each address stays where it is.
  if (doubt?.sharesPort) return warning('shared-port', where, { what, remedy: sharedPortRemedy })
  const marks = own.reservation(address)?.marks
  if (marks && namedCluster(own.scheme, marks) === 'other')
    return blocker('other-cluster', where, {
      what: `it shows ${before}, whose reservation names another cluster (cluster=${marks.cluster})`,
      remedy: `if that is a previous id of this cluster, as after a restore from a backup: takeover plan --cluster-id=${marks.cluster}`,
    })
  if (own.isReserved(address) === false && !own.isInRanges(address)) return missing(judged)
  return blocker('own-address', where, { what, remedy: 'give it another address before the takeover' })
}

const sharedPortRemedy =
  'nothing before the takeover: the address stays, and each node delivers that port to one of the two Services as before; `serve` repeats this in an Event'
