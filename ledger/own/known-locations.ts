import { repeat } from '../../lib/repeat.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Cloud, Location } from '../../clouds/ports/cloud.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { formerName } from '../want/location.ts'
import type { LocationSource } from '../../settings/service-policy.ts'

export type KnownLocations = {
  /** The last list; undefined before the first read. */
  current(): Location[] | undefined
  /** Calls the listener when a name may mean another location: the list changed, or the settings did. */
  onChange(listener: () => void): void
  start(signal: AbortSignal): void
}

const hourMs = 3_600_000
const retryMs = 30_000

export type KnownLocationsOptions = {
  cloud: Pick<Cloud, 'locations'>
  log: Log
  /** We warn once about each source that uses an old name. */
  sources: LocationSource[]
  /** Notifies of a changed location in the settings; absent if they cannot change. */
  settings?: { onChange(listener: () => void): void } | undefined
  clock?: Clock
}

/** The provider's locations, read in the background. A webhook checks names against them and never waits for them. */
export function knownLocations(options: KnownLocationsOptions): KnownLocations {
  const { cloud, log, sources, settings, clock = systemClock } = options
  let list: Location[] | undefined
  const listeners: (() => void)[] = []
  const accept = (read: Location[]) => {
    if (isDeepStrictEqual(read, list)) return
    const warnings = list ? [] : formerSettings(sources, read)
    for (const warning of warnings) log.warn({ warning }, 'setting')
    list = read
    for (const listener of listeners) listener()
  }

  async function readOnce(signal: AbortSignal): Promise<number | undefined> {
    const read = await cloud.locations(signal).catch((error: Error) => error)
    if (Array.isArray(read)) {
      accept(read)
      return undefined
    }
    if (!signal.aborted) log.warn({ error: read.message }, 'cannot read the locations of the provider; retrying')
    return retryMs
  }

  return {
    current: () => list,
    onChange(listener) {
      listeners.push(listener)
      settings?.onChange(listener)
    },
    start: (signal) => void repeat(readOnce, { everyMs: hourMs, signal, clock }),
  }
}

function formerSettings(sources: LocationSource[], known: Location[]): string[] {
  return sources.flatMap((source) =>
    source.kind === 'setting' ? (formerName(source, { ...source, known }) ?? []) : [],
  )
}
