import { setTimeout as sleep } from 'node:timers/promises'
import type { Cloud, Location } from '../clouds/cloud.ts'
import type { Log } from '../kube/log.ts'
import { type LocationSource, formerName } from '../ledger/want/location.ts'

export type KnownLocations = {
  /** The list as it was last read; undefined until it was. */
  current(): Location[] | undefined
  start(signal: AbortSignal): void
}

const hourMs = 3_600_000
const retryMs = 30_000

export type KnownLocationsOptions = {
  cloud: Pick<Cloud, 'locations'>
  log: Log
  /** Whoever set one of these to a name of old is told once. */
  sources: LocationSource[]
}

/** The cloud's locations, read in the background: a webhook checks names against them and never waits for them. */
export function knownLocations({ cloud, log, sources }: KnownLocationsOptions): KnownLocations {
  let list: Location[] | undefined
  const take = (read: Location[]) => {
    const warnings = list ? [] : formerSettings(sources, read)
    for (const warning of warnings) log.warn({ warning }, 'setting')
    list = read
  }

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const read = await cloud.locations(signal).catch((error: Error) => error)
      if (Array.isArray(read)) take(read)
      else if (!signal.aborted) log.warn({ error: read.message }, 'locations could not be read')
      await sleep(Array.isArray(read) ? hourMs : retryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  return { current: () => list, start: (signal) => void follow(signal) }
}

function formerSettings(sources: LocationSource[], known: Location[]): string[] {
  return sources.flatMap((source) =>
    source.kind === 'setting' ? (formerName(source, { ...source, known }) ?? []) : [],
  )
}
