import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { Context } from '../../../inspect/facts.ts'
import { type Service, keyOf } from '../../../kube/objects.ts'
import { namedCluster } from '../../../ledger/record/marks.ts'
import type { OwnAddressFacts } from '../../../ledger/want/own-address-rules.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { parseIpAddress } from '../../../lib/ip-address.ts'
import type { ServiceFacts } from './facts.ts'
import { type PlanFinding, type PlanFindings, type PlannedService, blocker, warning } from './plan.ts'
import { shell } from '../../../lib/remedy.ts'

/** A Service, and what decides about its address. */
export type SeenService = {
  service: Service
  wanted: Want
  /** The reservation that has its marks. */
  reservation: Reservation | undefined
  facts: ServiceFacts
  own: OwnAddressFacts
  context: Context
}

/** A Service with what the plan says of it. */
export type JudgedService = SeenService & { planned: PlannedService }

/** The findings of a Service. */
export function serviceFindings(judged: JudgedService): PlanFindings {
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
    const remedy = shell`kubectl describe service ${at}   # make both the same before`
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

/** The doubts whether an own address is kept. */
function doubts(judged: JudgedService, before: string): PlanFindings {
  const { service, wanted, own } = judged
  const doubt = wanted.kind === 'own' ? wanted.doubt : undefined
  const what = wanted.kind === 'wrong' ? wanted.problems.join('; ') : doubt?.reason
  const address = parseIpAddress(before)
  if (what === undefined || !address) return []
  const where = `Service ${keyOf(service)}`
  // The predecessor lived with it: each address stays where it is.
  if (doubt?.sharesPort) return warning('shared-port', where, { what, remedy: sharedPortRemedy })
  const marks = own.reservation(address)?.marks
  if (marks && namedCluster(own.scheme, marks) === 'other')
    return blocker('other-cluster', where, {
      what: `it shows ${before}, whose reservation names another cluster (cluster=${marks.cluster})`,
      remedy: `if that is this cluster by a previous id, as after a restore from a backup: takeover plan --cluster-id=${marks.cluster}`,
    })
  if (own.isReserved(address) === false && !own.isInRanges(address)) return missing(judged)
  return blocker('own-address', where, { what, remedy: 'give it another address before the takeover' })
}

const sharedPortRemedy =
  'nothing before the takeover: the address stays, and each node delivers that port to one of the two Services as before; `serve` repeats this in an Event'
