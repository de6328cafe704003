import type { Sights } from '../../lib/sights.ts'
import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import { isWarm } from '../record/source.ts'

export type WarmSeen = {
  records: ElasticIP[]
  /** The locations where Services get their addresses now. */
  locations: ReadonlySet<string>
  /** How many warm addresses each location should have. */
  size: number
  /** For how long no Service has used a location. */
  unusedForMs: (location: string) => number
  /** How long an unused location keeps its warm addresses: the next Service may come soon. */
  graceMs: number
}

export type WarmPlan = {
  /** A new record for each location that lacks one and has no request pending. */
  add: { name: string; location: string }[]
  /** Warm addresses to release. */
  surplus: ElasticIP[]
}

/**
 * Plans the missing and the surplus addresses of the warm pool. Pure.
 *
 * The addresses of a location are numbered: `warm-da-1` to `warm-da-<size>`. Every process that fills the pool uses the
 * same names, so there are never more than `size`, however many fill it at once.
 *
 * | seen                                                            | plan                                    |
 * | --------------------------------------------------------------- | --------------------------------------- |
 * | a location in use, a number without a record                    | add the record with the lowest number   |
 * | the same, while another warm record there has no address yet    | nothing: a slow or refusing cloud gets  |
 * |                                                                 | one request at a time                   |
 * | unclaimed, number within `size`, location in use                | keep                                    |
 * | unclaimed, number above `size`                                  | surplus                                 |
 * | unclaimed, location no longer in use for the grace period       | surplus                                 |
 * | unclaimed, location no longer in use for less                   | keep, unless `size` is 0                |
 * | unclaimed, location not written as the cloud's code             | surplus: it is not claimed              |
 * | claimed by a Service, or being released                         | keep: not the pool's to decide          |
 * | a record with a number's name that is not warm                  | add skips its number                    |
 */
export function planWarm(seen: WarmSeen): WarmPlan {
  const unclaimed = seen.records.filter((record) => isWarm(record) && claimKey(record) === undefined)
  const names = new Map([...seen.locations].map((location) => [location, new Set(namesIn(location, seen))]))
  const surplus = unclaimed
    .filter(({ metadata, spec: { location = '' } }) => !names.get(location)?.has(metadata.name))
    .filter((source) => ['Requested', 'Available'].includes(phaseOf(source)))
    .filter(({ spec: { location = '' } }) => seen.size === 0 || !isStillKept(location, seen))
  const add = [...seen.locations].flatMap((location) => additionsIn(location, { ...seen, unclaimed }))
  return { add, surplus }
}

/** At most one record per location at a time: a provider that is slow or refuses gets no second request meanwhile. */
function additionsIn(location: string, { unclaimed, ...seen }: WarmSeen & { unclaimed: ElasticIP[] }): WarmPlan['add'] {
  const isPending = unclaimed.some(({ spec, status }) => spec.location === location && status?.address === undefined)
  const taken = new Set(seen.records.map(({ metadata }) => metadata.name))
  const name = namesIn(location, seen).find((candidate) => !taken.has(candidate))
  return isPending || name === undefined ? [] : [{ name, location }]
}

/** The names of a location's warm addresses, without those of addresses that an operator took out of the pool. */
function namesIn(location: string, { records, size }: WarmSeen): string[] {
  const others = new Set(records.filter((record) => !isWarm(record)).map(({ metadata }) => metadata.name))
  const prefix = `warm-${location.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')}`
  const names: string[] = []
  for (let number = 1; names.length < size; number += 1) {
    if (!others.has(`${prefix}-${number}`)) names.push(`${prefix}-${number}`)
  }
  return names
}

/** Whether an unused location keeps its warm addresses for now. */
function isStillKept(location: string, { locations, unusedForMs, graceMs }: WarmSeen): boolean {
  return !locations.has(location) && unusedForMs(location) < graceMs
}

/** Measures how long each location has been unused, from the moment we first saw it. */
export function unusedFor(seen: Sights, locations: ReadonlySet<string>): WarmSeen['unusedForMs'] {
  for (const location of locations) seen.forMs(location, undefined)
  return (location) => (locations.has(location) ? 0 : seen.forMs(location, 'unused'))
}
