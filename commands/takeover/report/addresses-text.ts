import type { TakeoverPlan } from '../plan/plan.ts'
import { section, table } from './text.ts'

const heldTexts = {
  reserved: 'its reservation is adopted',
  record: 'is held already',
  own: 'own address of the user',
  balancer: 'managed load balancer',
  'control-plane': 'the control-plane address',
  pending: 'waits for an address',
  ignored: 'not served by us',
} as const

/** Each Service and its address. */
export function servicesText({ services }: TakeoverPlan): string {
  const rows = services.map(({ namespace, name, before, after, held, reservationID }) => [
    `${namespace}/${name}`,
    before ?? '-',
    before === after ? 'stays' : `-> ${after ?? '?'}`,
    heldTexts[held],
    reservationID ?? '',
  ])
  const title = `Services (${services.length})`
  return section(
    title,
    rows.length === 0 ? ['none'] : table([['SERVICE', 'BEFORE', 'AFTER', 'HOW', 'RESERVATION'], ...rows]),
  )
}

/** Each reservation and whose it will be. */
export function reservationsText({ reservations }: TakeoverPlan): string {
  const rows = reservations.map(({ id, address, whose, service, action }) => [
    id,
    address ?? 'not granted yet',
    whose,
    service ?? '',
    { adopt: 'a record is written', mark: 'a record, and the mark of this cluster', keep: 'nothing is done' }[action],
  ])
  const title = `Reservations (${reservations.length})`
  return section(
    title,
    rows.length === 0 ? ['none'] : table([['ID', 'ADDRESS', 'WHOSE', 'SERVICE', 'ACTION'], ...rows]),
  )
}

/** What the project pays for. */
export function costText({ cost: { addressesBefore, addressesAfter } }: TakeoverPlan): string {
  return section('Cost', [
    `${addressesBefore} reservations before, ${addressesAfter} after: nothing is reserved and nothing is deleted at the cloud`,
  ])
}
