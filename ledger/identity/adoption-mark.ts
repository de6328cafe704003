import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerMap } from './ledger-map.ts'

export type AdoptionMark = {
  /** Whether every reservation with our marks has a record. Called at every claim; the answer may be a second old. */
  isSet(signal: AbortSignal): Promise<boolean>
  /** Begins a look at all reservations. What it returns sets the mark, unless that was removed since. */
  begin(): (signal: AbortSignal) => Promise<void>
  /** Removes the mark: each claim looks for a reservation, until a sweep finds that all have a record. */
  clear(signal: AbortSignal): Promise<void>
}

/** `since`: what tells one term of a process from another; empty where no process follows it. */
export type Leader = { identity: string | undefined; since: string | undefined }

export type AdoptionMarkOptions = {
  map: LedgerMap
  project: string
  /** The name of this process. */
  identity: string
  /** Who leads now, as the API server has it. */
  leader: (signal: AbortSignal) => Promise<Leader | undefined>
  monotonicMs: () => number
}

/** How long a mark that was read counts: a leader cannot change and reserve an address in less. */
const knownMs = 1_000

/**
 * The entry that a sweep writes once every reservation of one project has a record. It counts only in the term of the leader
 * that wrote it: a predecessor that led in between may have reserved addresses without a record.
 */
export function adoptionMark(of: AdoptionMarkOptions): AdoptionMark {
  const { map, project, identity, leader, monotonicMs } = of
  let knownUntilMs = -Infinity
  let clears = 0
  const isWritten = async (stored: Promise<ConfigMap | undefined>, signal: AbortSignal) => {
    const [entries, current] = await Promise.all([stored, leader(signal)])
    const { adopted, 'adopted-by': writer } = entries?.data ?? {}
    return adopted === project && writer !== undefined && current !== undefined && writer === termOf(current)
  }
  const clear = async (signal: AbortSignal) => {
    clears += 1
    knownUntilMs = -Infinity
    const stored = await map.read(signal)
    if (stored?.data?.['adopted-by'] !== undefined) await map.change(stored, { 'adopted-by': undefined }, signal)
  }
  return {
    async isSet(signal) {
      const startedMs = monotonicMs()
      if (startedMs < knownUntilMs) return true
      if (!(await isWritten(map.recent(signal), signal))) return false
      knownUntilMs = startedMs + knownMs
      return true
    },
    begin() {
      const clearsBefore = clears
      return async (signal) => {
        const current = await leader(signal)
        if (clears !== clearsBefore || current?.identity !== identity) return
        await map.change(await map.read(signal), { adopted: project, 'adopted-by': termOf(current) }, signal)
        // What removed it while it was written may have read the map before.
        if (clears !== clearsBefore) await clear(signal)
      }
    },
    clear,
  }
}

function termOf({ identity = '', since = '' }: Leader): string {
  return `${identity} ${since}`
}
