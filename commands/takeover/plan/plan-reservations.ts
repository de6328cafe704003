import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { countedAddresses } from '../../../ledger/claim/limits.ts'
import { claimKey, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { namedCluster } from '../../../ledger/record/marks.ts'
import type { SweepPlan } from '../../../ledger/sweep/sweep-plan.ts'
import type { Context } from '../../../inspect/facts.ts'
import { schemeOf } from '../../../inspect/wanted.ts'
import { type PlanFinding, type PlanFindings, type PlannedReservation, type PlannedService, blocker } from './plan.ts'
import type { ServiceFacts } from './facts.ts'
import { shell } from '../../../lib/remedy.ts'
import { counted } from '../../../lib/text.ts'

export type ReservationsPlan = { reservations: PlannedReservation[]; findings: PlanFinding[] }

type ReservationFacts = { facts: ServiceFacts; services: readonly PlannedService[]; sweep: SweepPlan; context: Context }

/** Plans the owner of each reservation with the predecessor's marks, and of each that a Service shows. Pure. */
export function planReservations(seen: ReservationFacts): ReservationsPlan {
  const reservations = seen.facts.reservations.flatMap((one) => planned(one, seen) ?? [])
  const warnings = reservations.flatMap((one) => warningOf(one, seen) ?? [])
  return { reservations, findings: [limitFindings(seen), loadBalancingOff(seen, reservations), warnings].flat() }
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

/** Services with addresses of the predecessor, which these settings would leave alone. */
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

/** The facts that a person needs about a reservation that no Service gets. */
function warningOf(
  { id, address, whose, service }: PlannedReservation,
  { context: { vendor }, services }: Pick<ReservationFacts, 'context' | 'services'>,
): PlanFinding | undefined {
  const cloud = vendor.cloud.name
  const isShown = address !== undefined && services.some(({ before }) => before === address)
  const unassigned = {
    reason: 'untagged',
    what: 'the predecessor reserved it, and it names neither this cluster nor a Service here; it is kept',
    remedy: `another cluster of the project may use it; if none does, delete it at ${cloud}`,
  }
  const texts: Partial<Record<PlannedReservation['whose'], Omit<PlanFinding, 'where'>>> = {
    orphan: {
      reason: 'orphan',
      what: 'it has the marks of this cluster, but no Service needs it; the project pays for it',
      remedy: `the settings have --sweep=report, so it is kept; delete it at ${cloud}, or remove that setting after the takeover`,
    },
    surplus: isShown
      ? {
          reason: 'unserved',
          what: `it has the marks of Service ${service}, which shows its address; eip-admission will not serve that Service, and never releases the reservation`,
          remedy: `nothing; the address is in use: do not delete it at ${cloud}`,
        }
      : {
          reason: 'surplus',
          what: `it has the marks of Service ${service}, which has another address; it is kept, and the project pays for it`,
          remedy: `delete it at ${cloud} if nothing uses it`,
        },
    untagged: unassigned,
    unknown: unassigned,
  }
  const text = texts[whose]
  return text && { ...text, where: `reservation ${id} (${address ?? 'not granted yet'})` }
}

/** Limits that are lower than what is held: adoption would go beyond them, and every new Service would be refused. */
function limitFindings({ facts, sweep, context }: ReservationFacts): PlanFinding[] {
  const { maxAddresses, maxAddressesPerNamespace } = context.settings.cluster
  const held = countedAddresses(facts.records).map(({ spec }) => spec.claimRef?.namespace ?? '')
  const adopted = sweep.adopt.filter(({ record }) => !record).map(({ key }) => key.split('/')[0] ?? '')
  const all = [...held, ...adopted]
  const namespaces = [...Map.groupBy(all.filter(Boolean), (name) => name)]
  const rows = [
    { of: 'the cluster', count: all.length, limit: maxAddresses, flag: '--max-addresses' },
    ...namespaces.map(([name, { length: count }]) => {
      const flag = '--max-addresses-per-namespace'
      return { of: `namespace ${name}`, count, limit: maxAddressesPerNamespace, flag }
    }),
  ]
  // The remedy has room for new addresses.
  return rows
    .filter(({ count, limit }) => limit !== undefined && count > limit)
    .map(({ of, count, limit, flag }) =>
      blocker('limit', of, {
        what: `it holds ${counted(count, 'addresses')}, and ${flag} is ${limit}: new Services would be refused`,
        remedy: `run takeover plan again with ${flag}=${Math.ceil((count * 1.5) / 10) * 10}; takeover apply needs the same flag`,
      }),
    )
}
