import type { EquinixMetalDoor } from '../../sandbox/clouds/equinix-metal/metal-door.ts'

/** An address that the project pays for, as its owner sees it. */
export type Reservation = { id: string; address: string | null; state: string; place: string; tags: string[] }

/** Every address of the project that somebody ordered, oldest first. */
export function reservationsIn(door: EquinixMetalDoor): Reservation[] {
  return door.reservations.all().map(({ id, address, state, metro, facility, tags }) => ({
    id: String(id),
    address: typeof address === 'string' ? address : null,
    state: String(state),
    place: codeOf(facility) ?? codeOf(metro) ?? '',
    tags: Array.isArray(tags) ? tags.map(String) : [],
  }))
}

function codeOf(place: unknown): string | undefined {
  return typeof place === 'object' && place !== null && 'code' in place ? String(place.code) : undefined
}
