import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { countedAddresses } from '../../../ledger/claim/limits.ts'
import { claimKey, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { namedCluster } from '../../../ledger/record/marks.ts'
import type { SweepPlan } from '../../../ledger/sweep/sweep-plan.ts'
import type { Context } from '../../../inspect/facts.ts'
import { schemeOf } from '../../../inspect/wanted.ts'
import { usedLimits } from '../../doctor/checks/cloud.ts'
import { leftoverFindings } from '../../doctor/checks/reservations.ts'
import { splitKey } from '../../../kube/objects.ts'
import {
  type PlanFinding,
  type PlanFindings,
  type PlannedReservation,
  type PlannedService,
  blocker,
  warning,
} from './plan.ts'
import type { ServiceFacts } from './facts.ts'
import { shell } from '../../../lib/remedy.ts'
import { counted } from '../../../lib/text.ts'

export type ReservationsPlan = { reservations: PlannedReservation[]; findings: PlanFinding[] }

type ReservationFacts = { facts: ServiceFacts; services: readonly PlannedService[]; sweep: SweepPlan; context: Context }

/** Plans the owner of each reservation with the predecessor's marks, and of each that a Service shows. Pure. */
export function planReservations(seen: ReservationFacts): ReservationsPlan {
  const reservations = seen.facts.reservations.flatMap((one) => planned(one, seen) ?? [])
  const findings = [limitFindings(seen), loadBalancingOff(seen, reservations), leftovers(seen)].flat()
  return { reservations, findings }
}

function planned(
  reservation: Reservation,
  { facts, services, sweep, context }: ReservationFacts,
): PlannedReservation | undefined {
  const { id, marks } = reservation
  const address = reservation.address === undefined ? undefined : canonicalIpAddress(reservation.address)
  const scheme = schemeOf(facts.cluster, context)
  const of = (whose: PlannedReservation['whose'], service?: string): PlannedReservation => ({
    id,
    address,
    whose,
    ...(service !== undefined && { service }),
    action: 'keep',
  })
  const record = facts.records.find((one) => reservationIdOf(one) === id)
  if (record) return of('record', claimKey(record))
  if (facts.controlPlane.some((one) => one.id === id)) return of('control-plane')
  const adoption = sweep.adopt.find((one) => one.reservation.id === id)
  if (adoption)
    return { ...of('service', adoption.key), action: namedCluster(scheme, marks) === 'none' ? 'mark' : 'adopt' }
  const user = services.find((one) => one.reservationID === id || (address !== undefined && one.before === address))
  const key = user && `${user.namespace}/${user.name}`
  if (marks['usage'] !== scheme.usage) return user && of('own', key)
  if (namedCluster(scheme, marks) === 'other') return of('other-cluster')
  const surplus = sweep.surplus.find((one) => one.reservation.id === id)
  if (surplus) return of('surplus', `${surplus.service.metadata.namespace}/${surplus.service.metadata.name}`)
  if (user) return of('own', key)
  if (sweep.untagged.some((one) => one.id === id)) return of('untagged')
  return of(sweep.suspects.has(id) ? 'orphan' : 'unknown')
}

/** Reports Services with addresses from the predecessor that these settings would ignore. */
function loadBalancingOff(
  { context, services, facts }: ReservationFacts,
  all: readonly PlannedReservation[],
): PlanFindings {
  if (context.vendor.loadBalancer.kind !== 'none') return []
  const scheme = schemeOf(facts.cluster, context)
  const marked = new Set(facts.reservations.filter(({ marks }) => marks['usage'] === scheme.usage).map(({ id }) => id))
  const shown = all.filter(({ id, whose, address }) => {
    if (!marked.has(id) || whose === 'other-cluster' || whose === 'record') return false
    return address !== undefined && services.some(({ before }) => before === address)
  })
  if (shown.length === 0) return []
  const count = shown.length === 1 ? '1 Service shows an address' : `${shown.length} Services show addresses`
  const addresses = shown.map(({ address }) => address).slice(0, 5)
  return blocker('load-balancing-off', 'settings', {
    what: `they turn load balancing off, but ${count} that the predecessor reserved: ${addresses.join(', ')}`,
    remedy: shell`eip-admission takeover plan --loadbalancer=...   # names the announcing software, as docs/reference/settings.md says`,
  })
}

/** The reservations that go to no Service, as `doctor` reports them. They stay. */
function leftovers({ facts, sweep, context }: ReservationFacts): PlanFinding[] {
  return leftoverFindings(sweep, facts.reservations, context).map(({ what, why, fix }) =>
    warning('leaked-reservations', 'Addresses', { what: `${what}: ${why}`, remedy: fix }),
  )
}

/**
 * Reports limits below the number of held addresses: adoption would exceed them, and every new Service would be
 * refused.
 */
function limitFindings({ facts, sweep, context }: ReservationFacts): PlanFinding[] {
  const held = countedAddresses(facts.records).map(({ spec }) => spec.claimRef?.namespace)
  const adopted = sweep.adopt.filter(({ record }) => !record).map(({ key }) => splitKey(key).namespace)
  const exceeded = usedLimits([...held, ...adopted], context.settings.cluster).filter(
    ({ count, limit }) => count > limit,
  )
  return exceeded.map(({ of, count, limit, flag }) =>
    blocker('limit', of, {
      what: `it holds ${counted(count, 'addresses')}, and ${flag} is ${limit}: new Services would be refused`,
      // The suggested limit leaves room for new addresses.
      remedy: `run takeover plan again with ${flag}=${Math.ceil((count * 1.5) / 10) * 10}; takeover apply needs the same flag`,
    }),
  )
}
