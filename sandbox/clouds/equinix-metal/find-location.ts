import { notFound, unprocessable } from './errors.ts'
import { type Facility, type Metro, findFacility, findMetro } from './locations.ts'
import { textOf } from '../request-body.ts'
import type { State } from './state.ts'

/** Finds the location that a request names: a metro, or a facility with its metro. */
export function findLocation(
  { behaviour }: State,
  { metro, facility }: { metro?: unknown; facility?: unknown },
): { metro: Metro; facility?: Facility } {
  const building = findFacility(textOf(facility))
  if (building) return { metro: building.metro, facility: building }
  const place = findMetro(textOf(metro))
  if (place) return { metro: place }
  if (behaviour.unknownLocation === '404') throw notFound()
  throw unprocessable(`${facility ? 'Facility' : 'Metro'} ${JSON.stringify(facility ?? metro)} is unknown`)
}
