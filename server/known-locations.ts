import { setTimeout as sleep } from 'node:timers/promises'
import type { Cloud, Location } from '../clouds/cloud.ts'
import type { Log } from '../kube/log.ts'

export type KnownLocations = {
  /** The list as it was last read; undefined until it was. */
  current(): Location[] | undefined
  start(signal: AbortSignal): void
}

const hourMs = 3_600_000
const retryMs = 30_000

/** The cloud's locations, read in the background: a webhook checks names against them and never waits for them. */
export function knownLocations(cloud: Pick<Cloud, 'locations'>, log: Log): KnownLocations {
  let list: Location[] | undefined

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const read = await cloud.locations(signal).catch((error: Error) => error)
      if (Array.isArray(read)) list = read
      else if (!signal.aborted) log.warn({ error: read.message }, 'locations could not be read')
      await sleep(Array.isArray(read) ? hourMs : retryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  return { current: () => list, start: (signal) => void follow(signal) }
}
