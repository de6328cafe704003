import type { ConfigMap } from '../../kube/objects.ts'
import type { LedgerMap } from './ledger-map.ts'

export type AdoptionMark = {
  /** Whether every reservation with our marks has a record. Called at every claim; the answer may be a second old. */
  isSet(signal: AbortSignal): Promise<boolean>
  set(signal: AbortSignal): Promise<void>
}

export type AdoptionMarkOptions = {
  map: LedgerMap
  project: string
  /** The name of this process. */
  identity: string
  /** The name of the process that leads now, as the API server has it. */
  leader: (signal: AbortSignal) => Promise<string | undefined>
  monotonicMs: () => number
}

/** How long a mark that was read counts: a leader cannot change and reserve an address in less. */
const knownMs = 1_000

/**
 * The entry that a sweep writes once every reservation of one project has a record. It counts only as long as the process
 * leads that wrote it: a predecessor that led in between may have reserved addresses without a record.
 */
export function adoptionMark(of: AdoptionMarkOptions): AdoptionMark {
  const { map, project, identity, leader, monotonicMs } = of
  let knownUntilMs = -Infinity
  const isWritten = async (stored: Promise<ConfigMap | undefined>, signal: AbortSignal) => {
    const [entries, current] = await Promise.all([stored, leader(signal)])
    const { adopted, 'adopted-by': writer } = entries?.data ?? {}
    return adopted === project && writer !== undefined && writer === current
  }
  return {
    async isSet(signal) {
      const startedMs = monotonicMs()
      if (startedMs < knownUntilMs) return true
      if (!(await isWritten(map.recent(signal), signal))) return false
      knownUntilMs = startedMs + knownMs
      return true
    },
    async set(signal) {
      await map.change(await map.read(signal), { adopted: project, 'adopted-by': identity }, signal)
    },
  }
}
