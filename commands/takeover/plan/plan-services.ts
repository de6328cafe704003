import { type Service, ingressOf, keyOf } from '../../../kube/objects.ts'
import { shownAddresses } from '../../../ledger/record/shown.ts'
import { type ElasticIP, heldAddress, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import type { Adoption } from '../../../ledger/sweep/adopt.ts'
import { checkOwnAddress } from '../../../ledger/want/own-address-rules.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import type { Context } from '../../../inspect/facts.ts'
import { covers, isOf, ownAddressFacts, wantOf } from '../../../inspect/wanted.ts'
import { allRequestAnnotations } from '../../../ledger/users/possible-users.ts'
import type { ServiceFacts } from './facts.ts'
import type { PlanFinding, PlannedService } from './plan.ts'
import { type SeenService, serviceFindings } from './service-findings.ts'

/** Each Service and its address, before and after. Pure. */
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
  const { service, facts, context } = seen
  const shown = shownAddresses(service, allRequestAnnotations(context.vendor.policy.requestAnnotations))
  const before = shown[0]?.address
  const record = facts.records.find((one) => isOf(one, service))
  const { after, held, reservationID } = endOf({ ...seen, before, record })
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

type End = Pick<PlannedService, 'after' | 'held'> & { reservationID?: string | undefined }
type Ending = SeenService & { before: string | undefined; record: ElasticIP | undefined }

function endOf({ service, before, record, reservation, wanted, facts, context }: Ending): End {
  if (keyOf(service) === context.vendor.policy.controlPlaneService) {
    const id = facts.controlPlane.find(({ address }) => canonicalIpAddress(address) === before)?.id
    return { after: before, held: 'control-plane', reservationID: id }
  }
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
