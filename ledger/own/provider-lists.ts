import { isDeepStrictEqual } from 'node:util'
import type { Cloud, Location, Reservation } from '../../clouds/ports/cloud.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { type IpAddress, canonicalIpAddress, rangeSet } from '../../lib/ip-address.ts'
import { recentRead } from '../../lib/recent-read.ts'
import { repeat } from '../../lib/repeat.ts'
import { shortMemory } from '../../lib/short-memory.ts'
import type { LocationSource } from '../../settings/service-policy.ts'
import { lastingMarks, marksText } from '../record/marks.ts'
import { formerName } from '../want/location.ts'

/** Every address that is reserved in the project, by us or others. */
export type KnownReservations = {
  /** Whether the project has reserved an address; undefined before the first read. */
  has(address: IpAddress): boolean | undefined
  /** The reservation of an address, as far as we know. */
  find(address: IpAddress): Reservation | undefined
  /**
   * Reads from the provider if our knowledge of an address may be stale; never throws. `maxAbsentMs` is the maximum age
   * of a list that lacks the address. It is short by default, because a person waits.
   */
  refresh(address: IpAddress, signal: AbortSignal, maxAbsentMs?: number): Promise<void>
  /**
   * Forgets a reservation that is being deleted: the provider may list it for minutes, although it has no owner. The
   * same id with another address is a later reservation.
   */
  forget(reservation: Forgotten): void
  onChange(listener: () => void): void
}

type Forgotten = { id: string; address: string | undefined }

export type KnownReservationsOptions = { cloud: Pick<Cloud, 'reservations'>; log: Log; now: () => number }

/** The maximum age of a list that contains the address. */
const maxPresentMs = 300_000

/** How long the provider may list a deleted reservation. */
const forgottenMs = 600_000

/** Reads the list only if a user-chosen address depends on it: most clusters have none, and calls to a provider are scarce. */
export function knownReservations({ cloud, log, now }: KnownReservationsOptions): KnownReservations {
  const listeners: (() => void)[] = []
  const forgotten = shortMemory<string, Forgotten>({ keptMs: forgottenMs, monotonicMs: now })
  const isForgotten = ({ id, address }: Reservation) => {
    const known = forgotten.get(id)
    return known && (known.address === undefined || canonicalIpAddress(address ?? '') === known.address)
  }
  let known: { list: Reservation[]; find: (address: IpAddress) => Reservation | undefined } | undefined
  const notify = () => listeners.forEach((listener) => listener())

  const accept = (read: Reservation[]) => {
    const kept = read.filter((one) => !isForgotten(one))
    const isSame = known && listText(known.list) === listText(kept)
    known = { list: kept, find: finder(kept) }
    if (!isSame) notify()
  }
  const list = recentRead({
    // The read outlives the review that began it, because others share it. The provider's client has a time limit.
    read: async () => accept(await cloud.reservations({}, new AbortController().signal)),
    now,
  })

  return {
    has: (address) => known && known.find(address) !== undefined,
    find: (address) => known?.find(address),
    // An operator may have just reserved an address that the list lacks.
    async refresh(address, signal, maxAbsentMs = 5_000) {
      try {
        await list.within(known?.find(address) ? maxPresentMs : maxAbsentMs, signal)
      } catch (error) {
        log.warn(
          { error },
          'cannot read the reservations of the project; user-chosen addresses are checked against the last list',
        )
      }
    },
    forget({ id, address }) {
      forgotten.set(id, { id, address: canonicalIpAddress(address ?? '') })
      if (known?.list.some((one) => one.id === id)) accept(known.list)
    },
    onChange: (listener) => void listeners.push(listener),
  }
}

function finder(list: Reservation[]): (address: IpAddress) => Reservation | undefined {
  const single = new Map(
    list.flatMap((one) => {
      const address = canonicalIpAddress(one.address ?? '')
      return address === undefined ? [] : [[address, one] as const]
    }),
  )
  const blocks = list.flatMap((one) => {
    const { address, prefixLength } = one
    return prefixLength === undefined ? [] : [{ one, contains: rangeSet([`${address}/${prefixLength}`]) }]
  })
  return (address) => single.get(address.text) ?? blocks.find(({ contains }) => contains(address))?.one
}

function listText(list: Reservation[]): string {
  return list
    .map(
      ({ id, address, prefixLength, marks, holder }) =>
        `${id} ${address}/${prefixLength} ${marksText(lastingMarks(marks))} ${holder}`,
    )
    .toSorted()
    .join()
}

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
