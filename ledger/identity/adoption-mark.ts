import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerMap } from './ledger-map.ts'

export type AdoptionMark = {
  /**
   * Whether every reservation with our marks that these owners could use has a record. Without owners: any owner that
   * is not excepted. Called by every claim; the answer may be two seconds old.
   */
  isSet(signal: AbortSignal, owners?: readonly string[]): Promise<boolean>
  /**
   * Begins a look at all reservations. The returned function sets the mark, unless it was removed since. `except` names
   * owners whose reservations stay without a record: a claim for one of them looks for it.
   */
  begin(): (signal: AbortSignal, except?: readonly string[]) => Promise<void>
  /** Removes the mark unless it already excepts all these owners. The look in progress may set it again. */
  narrow(except: readonly string[], signal: AbortSignal): Promise<unknown>
  /** Removes the mark: each claim looks for a reservation until a sweep finds that every one has a record. */
  clear(signal: AbortSignal): Promise<void>
}

/** `since` tells the terms of one process apart; it is empty where there is no election. */
export type Leader = { identity: string | undefined; since: string | undefined }

export type AdoptionMarkOptions = {
  map: LedgerMap
  project: string
  /** The name of this process. */
  identity: string
  /** The current leader, read from the API server. */
  leader: (signal: AbortSignal) => Promise<Leader | undefined>
  monotonicMs: () => number
}

/** How long an answer is reused: no new leader can take over and reserve an address within this time. */
const knownMs = 1_000

/**
 * The entry that a sweep writes once every reservation of a project has a record. It is valid only in the term of the
 * leader that wrote it. A leader in between may have reserved addresses without a record.
 */
export function adoptionMark({ map, project, identity, leader, monotonicMs }: AdoptionMarkOptions): AdoptionMark {
  let known = { untilMs: -Infinity, except: new Set<string>() }
  let clears = 0
  const removals = { begun: 0, ended: 0 }
  const remove = (signal: AbortSignal, except?: readonly string[]) => {
    removals.begun += 1
    return removeMark(map, signal, except).finally(() => {
      removals.ended += 1
      known = { ...known, untilMs: -Infinity }
    })
  }
  const clear = (signal: AbortSignal) => {
    clears += 1
    return remove(signal)
  }
  return {
    async isSet(signal, owners = []) {
      const startedMs = monotonicMs()
      if (startedMs >= known.untilMs) {
        const endedBefore = removals.ended
        const [stored, current] = await Promise.all([map.recent(signal), leader(signal)])
        if (!isWritten(stored, { project, current })) return false
        // An answer that a removal overtook holds for this claim only.
        const untilMs = removals.ended === endedBefore ? startedMs + knownMs : -Infinity
        known = { untilMs, except: exceptedIn(stored) }
      }
      // A lost record may be this Service's, so the mark proves nothing while its removal waits for an answer.
      return removals.begun === removals.ended && !owners.some((owner) => known.except.has(owner))
    },
    begin() {
      const clearsBefore = clears
      return async (signal, except = []) => {
        const current = await leader(signal)
        if (clears !== clearsBefore || current?.identity !== identity) return
        await map.change(await map.read(signal), entriesOf({ project, current, except }), signal)
        // Whichever call removed the mark may have read the map before this write.
        if (clears !== clearsBefore) await clear(signal)
      }
    },
    narrow: async (except, signal) => except.length > 0 && (await remove(signal, except)),
    clear,
  }
}

/** Removes the mark, if it is set and does not already except all these owners. */
async function removeMark(map: LedgerMap, signal: AbortSignal, except?: readonly string[]): Promise<void> {
  const stored = await map.read(signal)
  const isDue = !except || !new Set(except).isSubsetOf(exceptedIn(stored))
  if (stored?.data?.['adopted-by'] !== undefined && isDue) await map.change(stored, { 'adopted-by': undefined }, signal)
}

function entriesOf({ project, current, except }: { project: string; current: Leader; except: readonly string[] }) {
  const excepted = except.length > 0 ? except.toSorted().join(' ') : undefined
  return { adopted: project, 'adopted-by': termOf(current), 'adopted-except': excepted }
}

function exceptedIn(stored: ConfigMap | undefined): Set<string> {
  return new Set(stored?.data?.['adopted-except']?.split(' '))
}

function isWritten(
  stored: ConfigMap | undefined,
  { project, current }: { project: string; current: Leader | undefined },
): boolean {
  const { adopted, 'adopted-by': writer } = stored?.data ?? {}
  return adopted === project && current !== undefined && writer === termOf(current)
}

function termOf({ identity = '', since = '' }: Leader): string {
  return `${identity} ${since}`
}
