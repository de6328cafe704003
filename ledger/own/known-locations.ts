import { setTimeout as sleep } from 'node:timers/promises'
import type { Cloud, Location } from '../../clouds/ports/cloud.ts'
import type { Log } from '../../kube/log.ts'
import { formerName } from '../want/location.ts'
import type { LocationSource } from '../../settings/service-policy.ts'

export type KnownLocations = {
  /** The list that was read last; undefined before the first read. */
  current(): Location[] | undefined
  start(signal: AbortSignal): void
}

const hourMs = 3_600_000
const retryMs = 30_000

export type KnownLocationsOptions = {
  cloud: Pick<Cloud, 'locations'>
  log: Log
  /** We warn once about each of these that has a former name. */
  sources: LocationSource[]
}

/** The cloud's locations, read in the background. A webhook checks names against them and never waits for them. */
export function knownLocations({ cloud, log, sources }: KnownLocationsOptions): KnownLocations {
  let list: Location[] | undefined
  const accept = (read: Location[]) => {
    const warnings = list ? [] : formerSettings(sources, read)
    for (const warning of warnings) log.warn({ warning }, 'setting')
    list = read
  }

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const read = await cloud.locations(signal).catch((error: Error) => error)
      if (Array.isArray(read)) accept(read)
      else if (!signal.aborted) log.warn({ error: read.message }, 'cannot read the locations of the cloud; retrying')
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
