import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import { countedAddresses } from '../../../ledger/claim/limits.ts'
import { claimKey, reservationIdOf } from '../../../ledger/record/elastic-ip.ts'
import { clusterOfOthers, isUnmarked } from '../../../ledger/record/marks.ts'
import type { SweepPlan } from '../../../ledger/sweep/sweep-plan.ts'
import type { Context } from '../../../inspect/facts.ts'
import { schemeOf } from '../../../inspect/wanted.ts'
import type { PlanFinding, PlannedReservation, PlannedService } from './plan.ts'
import type { ServiceFacts } from './facts.ts'

export type ReservationsPlan = { reservations: PlannedReservation[]; findings: PlanFinding[] }

type ReservationFacts = { facts: ServiceFacts; services: readonly PlannedService[]; sweep: SweepPlan; context: Context }

/** Whose each reservation will be. It lists those with the marks of the predecessor and those that Services show. Pure. */
export function planReservations(seen: ReservationFacts): ReservationsPlan {
  const reservations = seen.facts.reservations.flatMap((one) => planned(one, seen) ?? [])
  const warnings = reservations.flatMap((one) => warningOf(one, seen.context) ?? [])
  return { reservations, findings: [...limitFindings(seen), ...warnings] }
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
  if (adoption) return { ...of('service', adoption.key), action: isUnmarked(scheme, marks) ? 'mark' : 'adopt' }
  const user = services.find((one) => one.reservationID === id || (address !== undefined && one.before === address))
  const key = user && `${user.namespace}/${user.name}`
  if (marks['usage'] !== scheme.usage) return user && of('own', key)
  if (clusterOfOthers(scheme, marks) !== undefined && marks['cluster'] !== undefined) return of('other-cluster')
  const surplus = sweep.surplus.find((one) => one.reservation.id === id)
  if (surplus) return of('surplus', `${surplus.service.metadata.namespace}/${surplus.service.metadata.name}`)
  if (user) return of('own', key)
  if (sweep.untagged.some((one) => one.id === id)) return of('untagged')
  return of(sweep.suspects.has(id) ? 'orphan' : 'unknown')
}

function warningOf({ id, address, whose, service }: PlannedReservation, { vendor }: Context): PlanFinding | undefined {
  const where = `reservation ${id} (${address ?? 'not granted yet'})`
  switch (whose) {
    case 'orphan':
      return {
        reason: 'orphan',
        where,
        what: 'it has the marks of this cluster, but no Service needs it; the project pays for it',
        remedy: `the settings have --sweep=report, so it stays; delete it at ${vendor.cloud.name}, or remove that setting after the takeover`,
      }
    case 'surplus':
      return {
        reason: 'surplus',
        where,
        what: `it has the marks of Service ${service}, which has another address; it stays, and the project pays for it`,
        remedy: `delete it at ${vendor.cloud.name} if nothing uses it`,
      }
    case 'untagged':
    case 'unknown':
      return {
        reason: 'untagged',
        where,
        what: 'the predecessor reserved it, and it names neither this cluster nor a Service here; it stays',
        remedy: `another cluster of the project may use it; if none does, delete it at ${vendor.cloud.name}`,
      }
    case 'service':
    case 'record':
    case 'own':
    case 'control-plane':
    case 'other-cluster':
      return undefined
  }
}

/** Limits that are lower than what is held: adoption would go beyond them, and every new Service would be refused. */
function limitFindings({ facts, sweep, context }: ReservationFacts): PlanFinding[] {
  const { maxAddresses, maxAddressesPerNamespace } = context.settings.cluster
  const held = countedAddresses(facts.records).map(({ spec }) => spec.claimRef?.namespace ?? '')
  const adopted = sweep.adopt.filter(({ record }) => !record).map(({ key }) => key.split('/')[0] ?? '')
  const all = [...held, ...adopted]
  const namespaces = [...Map.groupBy(all.filter(Boolean), (name) => name)]
  return [
    ...limitFinding(all.length, maxAddresses, { flag: '--max-addresses', of: 'the cluster' }),
    ...namespaces.flatMap(([name, group]) =>
      limitFinding(group.length, maxAddressesPerNamespace, {
        flag: '--max-addresses-per-namespace',
        of: `namespace ${name}`,
      }),
    ),
  ]
}

function limitFinding(
  count: number,
  limit: number | undefined,
  { flag, of }: { flag: string; of: string },
): PlanFinding[] {
  if (limit === undefined || count <= limit) return []
  return [
    {
      isBlocker: true,
      reason: 'limit',
      where: of,
      what: `it holds ${count} addresses, and ${flag} is ${limit}: new Services would be refused`,
      remedy: `run takeover plan again with ${flag}=${roundUp(count)}; takeover apply needs the same flag`,
    },
  ]
}

/** With room for new ones. */
function roundUp(count: number): number {
  return Math.ceil((count * 1.5) / 10) * 10
}
