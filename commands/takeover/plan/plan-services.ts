import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../../kube/objects.ts'
import { shownAddresses } from '../../../ledger/record/address-use.ts'
import { type ElasticIP, heldAddress, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import type { Adoption } from '../../../ledger/sweep/adopt.ts'
import { checkOwnAddress } from '../../../ledger/want/own-address-rules.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import type { Context } from '../../../inspect/facts.ts'
import { isOf, wantOf } from '../../../inspect/wanted.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import { contains, ownFacts } from './own-facts.ts'
import type { Judged, Judging, ServiceFacts } from './judged.ts'
import type { Findings, PlannedService } from './plan.ts'
import { findingsOf } from './service-findings.ts'
import { sharedAddresses } from './shared-addresses.ts'

export type ServicesPlan = Findings & { services: PlannedService[] }

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

function canonical(address: string | undefined): string | undefined {
  return address === undefined ? undefined : canonicalIpAddress(address)
}
