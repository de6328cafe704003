import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import { isWarm } from '../record/source.ts'

export type WarmSeen = {
  records: ElasticIP[]
  /** Where Services get their addresses now. */
  locations: ReadonlySet<string>
  /** How many addresses wait in each location. */
  size: number
  now: Date
  /** How long a location that is no longer in use keeps its addresses: the next Service may come soon. */
  graceMs: number
}

export type WarmPlan = {
  /** One for each location that lacks any, and waits for none. */
  add: { name: string; location: string }[]
  surplus: ElasticIP[]
}

/**
 * What is missing in the warm pool, and what is too much. Its addresses have numbers: whoever fills it uses the same
 * names, so that there are never more of them than there should be, however many fill it at once. Pure.
 */
export function planWarm(seen: WarmSeen): WarmPlan {
  const untaken = seen.records.filter((record) => isWarm(record) && claimKey(record) === undefined)
  const names = new Set([...seen.locations].flatMap((location) => namesIn(location, seen)))
  const surplus = untaken
    .filter(({ metadata }) => !names.has(metadata.name))
    .filter((source) => ['Requested', 'Available'].includes(phaseOf(source)))
    .filter(
      (source) =>
        seen.size === 0 || seen.locations.has(source.spec.location ?? '') || ageMs(source, seen) > seen.graceMs,
    )
  const add = [...seen.locations].flatMap((location) => missing(location, { ...seen, untaken }))
  return { add, surplus }
}

/** One after the other: a cloud that refuses, or is slow, is asked for one address at a time. */
function missing(location: string, { untaken, ...seen }: WarmSeen & { untaken: ElasticIP[] }): WarmPlan['add'] {
  const awaited = untaken.some(({ spec, status }) => spec.location === location && status?.address === undefined)
  const taken = new Set(seen.records.map(({ metadata }) => metadata.name))
  const name = namesIn(location, seen).find((free) => !taken.has(free))
  return awaited || name === undefined ? [] : [{ name, location }]
}

/** The names of a location's addresses, past those that somebody took out of the pool. */
function namesIn(location: string, { records, size }: WarmSeen): string[] {
  const others = new Set(records.filter((record) => !isWarm(record)).map(({ metadata }) => metadata.name))
  const prefix = `warm-${location.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')}`
  const names: string[] = []
  for (let number = 1; names.length < size; number += 1) {
    if (!others.has(`${prefix}-${number}`)) names.push(`${prefix}-${number}`)
  }
  return names
}

function ageMs({ metadata, status }: ElasticIP, { now }: WarmSeen): number {
  const times = [metadata.creationTimestamp, ...(status?.conditions ?? []).map((said) => said.lastTransitionTime)]
  return now.getTime() - Math.max(...times.map((time) => Date.parse(time ?? '') || 0))
}
