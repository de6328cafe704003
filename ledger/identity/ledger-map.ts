import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError, isAlreadyExists } from '../../kube/errors.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { confirmAnnotation, confirmProjectAnnotation } from '../record/names.ts'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { HeartbeatEntries } from './heartbeat-plan.ts'

/** The ConfigMap for the ledger's entries that concern no single address. */
export type LedgerMap = {
  /** The map as it is now; undefined before the first sweep. */
  read(signal: AbortSignal): Promise<ConfigMap | undefined>
  /** The map as of at most a second ago, for reads that every claim makes. */
  recent(signal: AbortSignal): Promise<ConfigMap | undefined>
  /**
   * Writes entries into the map that was read, and removes undefined ones and the confirmations that they act on.
   * KubeError `conflict` says that another process wrote first.
   */
  change(stored: ConfigMap | undefined, entries: Entries, signal: AbortSignal): Promise<ConfigMap>
}

type Entries = Record<string, string | undefined>

export type LedgerMapOptions = {
  client: KubeClient
  namespace: string
  name: string
  /** Sees every version of the map, and provides the first entries of a new one. */
  halt: Pick<HaltMemory, 'learn' | 'kept'>
  monotonicMs: () => number
}

/** Within this time no other process can become leader and make a change that matters. */
const recentMs = 1_000

/** The ledger's ConfigMap in the API server. */
export function ledgerMap({ client, namespace, name, halt, monotonicMs }: LedgerMapOptions): LedgerMap {
  let known: { map: ConfigMap | undefined; untilMs: number } | undefined
  let changes = 0
  const read = async (signal: AbortSignal) => {
    const readMs = monotonicMs()
    const changesBefore = changes
    const map = await client.get(configMaps, { namespace, name }, { signal })
    halt.learn(map)
    // An answer that a change overtook may be older than the change.
    if (changes === changesBefore) known = { map, untilMs: readMs + recentMs }
    return map
  }
  /** Two simultaneous reads of one claim share a request. A read ends with its own signal, so other claims do not share it. */
  let reading: { signal: AbortSignal; map: Promise<ConfigMap | undefined> } | undefined
  const readOnce = (signal: AbortSignal) => {
    if (reading?.signal === signal) return reading.map
    const map = read(signal).finally(() => {
      if (reading?.map === map) reading = undefined
    })
    reading = { signal, map }
    return map
  }
  return {
    read,
    recent: async (signal) => (known && monotonicMs() < known.untilMs ? known.map : readOnce(signal)),
    async change(stored, entries, signal) {
      const anew = { ...emptyMap, metadata: { namespace, name } }
      const changed = withEntries(stored ?? anew, stored ? entries : { ...halt.kept(), ...entries })
      if (stored && isSame(stored, changed)) return stored
      try {
        const written = await (stored
          ? client.replace(configMaps, changed, { signal })
          : create(client, changed, signal))
        halt.learn(written)
        return written
      } finally {
        changes += 1
        known = reading = undefined
      }
    },
  }
}

const emptyMap = { apiVersion: 'v1', kind: 'ConfigMap' } as const

async function create(client: KubeClient, map: ConfigMap, signal: AbortSignal): Promise<ConfigMap> {
  try {
    return await client.create(configMaps, map, { signal })
  } catch (error) {
    // Another process was faster, and our entries are not stored: the caller must not act as if they were.
    if (!isAlreadyExists(error)) throw error
    throw new KubeError(error.message, { status: 409, reason: 'Conflict', cause: error })
  }
}

function withEntries(map: ConfigMap, entries: Entries): ConfigMap {
  const merged = Object.entries({ ...map.data, ...entries }).filter(([, value]) => value !== undefined)
  const used = usedConfirmations(map, entries)
  const annotations = Object.fromEntries(
    Object.entries(map.metadata.annotations ?? {}).filter(([name]) => !used.includes(name)),
  )
  const metadata = used.length > 0 ? { ...map.metadata, annotations } : map.metadata
  return { ...map, metadata, data: Object.fromEntries(merged) as Record<string, string> }
}

/** The confirmations that these entries act on. */
function usedConfirmations({ metadata }: ConfigMap, entries: Entries): string[] {
  const { [confirmAnnotation]: confirmed, [confirmProjectAnnotation]: project } = metadata.annotations ?? {}
  const isUsed = confirmed !== undefined && [entries['overruled-sign'], entries['cluster']].includes(confirmed)
  const isProjectUsed = project !== undefined && project === entries['project']
  return [...(isUsed ? [confirmAnnotation] : []), ...(isProjectUsed ? [confirmProjectAnnotation] : [])]
}

function isSame(a: ConfigMap, b: ConfigMap): boolean {
  return a.metadata.annotations === b.metadata.annotations && isDeepStrictEqual({ ...a.data }, b.data)
}

/*
 * An orphan has no record, so only the provider's tags name it until it is released. A predecessor releases only what
 * it saw deleted, so an operator who goes back to one must know which orphans are left.
 */

/** An orphan, as the last sweep saw it. */
type ListedOrphan = Pick<Reservation, 'id' | 'address'>

/** More would not fit into the ConfigMap. */
const maxListed = 100

/** Writes the orphans that a sweep sees into the ledger's ConfigMap, if they have changed. */
export async function listOrphans(
  map: LedgerMap,
  orphans: readonly ListedOrphan[],
  signal: AbortSignal,
): Promise<void> {
  const stored = await map.read(signal)
  const lines = orphans.slice(0, maxListed).map(({ id, address = '' }) => `${id} ${address}`.trim())
  const text = lines.length > 0 ? lines.toSorted().join('\n') : undefined
  if (text !== stored?.data?.['orphans']) await map.change(stored, { orphans: text }, signal)
}

/** The orphans that the ledger's ConfigMap names. */
export function listedOrphans(map: ConfigMap | undefined): ListedOrphan[] {
  const lines = (map?.data?.['orphans'] ?? '').split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', address] = line.split(' ')
    return { id, address }
  })
}

/*
 * The ledger's ConfigMap tells every replica that another cluster uses our id. It may be deleted, or restored from an
 * older backup. So each process remembers the halt until a leader has written that it is over.
 */

/** The knowledge of a process about another cluster that uses our id. */
export type HaltMemory = {
  /** Remembers the halt in the map. Called with every version of the map that this process reads or writes. */
  learn(map: ConfigMap | undefined): void
  /** Remembers a halt before the map has it. */
  note(halt: Halt): void
  /** The heartbeat entries of the map, completed with those that this process remembers. */
  entries(map: ConfigMap | undefined): HeartbeatEntries
  /** The entries about the halt that the map must have, even when it is created again. */
  kept(): Record<string, string | undefined>
  /** Why nothing may be reserved. Replicas that do not lead ask this too. */
  reason(map: ConfigMap | undefined): string | undefined
}

/** `heartbeat`: the other cluster's first one. */
type Halt = { heartbeat: string; isAlive: boolean }

type HaltMemoryOptions = { cluster: string; at: { namespace: string; name: string } }

/** Creates the memory of one process, which has seen no halt yet. */
export function haltMemory({ cluster, at }: HaltMemoryOptions): HaltMemory {
  let halt: Halt | undefined
  let overruled: string | undefined
  const note = ({ heartbeat, isAlive }: Halt) => {
    halt = { heartbeat, isAlive: isAlive || halt?.isAlive === true }
  }
  const learn = (map: ConfigMap | undefined) => {
    const stored = storedEntries(map, cluster)
    overruled = stored.overruled ?? overruled
    if (halt?.heartbeat === overruled) halt = undefined
    // A delayed answer may still show a halt that is over.
    if (stored.foreign !== undefined && stored.foreign !== overruled) {
      note({ heartbeat: stored.foreign, isAlive: stored.isAlive })
    }
  }
  const entries = (map: ConfigMap | undefined): HeartbeatEntries => {
    const stored = storedEntries(map, cluster)
    const isAlive = stored.isAlive || halt?.isAlive === true
    return { ...stored, foreign: stored.foreign ?? halt?.heartbeat, isAlive, overruled: stored.overruled ?? overruled }
  }
  return {
    learn,
    note,
    entries,
    kept: () => ({
      ...(halt && { cluster, 'foreign-sign': halt.heartbeat, 'foreign-alive': halt.isAlive ? 'true' : undefined }),
      ...(overruled !== undefined && { 'overruled-sign': overruled }),
    }),
    reason(map) {
      const { foreign: heartbeat, isAlive } = entries(map)
      return heartbeat === undefined ? undefined : conflictReason({ heartbeat, isAlive, cluster, at })
    },
  }
}

function conflictReason({ heartbeat, isAlive, cluster, at }: Halt & HaltMemoryOptions): string {
  const { namespace, name } = at
  const confirm = `kubectl annotate configmap -n ${namespace} ${name} --overwrite ${confirmAnnotation}=${heartbeat}`
  const end = isAlive
    ? ''
    : 'If it no longer exists, this ends automatically once its heartbeat has not changed for three of its sweep intervals. '
  return (
    `another cluster uses the cluster id ${cluster}: nothing is reserved, released or adopted. ${end}` +
    `If this cluster is a copy, stop it, or give it another --cluster-id. If it is the original, stop the copy, then run \`${confirm}\``
  )
}

/** The entries for our id; another id starts without any. */
function storedEntries(map: ConfigMap | undefined, cluster: string): HeartbeatEntries {
  const { data = {} } = map ?? {}
  const ofUs = (data['cluster'] ?? cluster) === cluster ? data : {}
  const list = (text = '') => text.split(' ').filter((one) => one !== '')
  return {
    heartbeats: list(ofUs['signs']),
    foreign: ofUs['foreign-sign'],
    isAlive: ofUs['foreign-alive'] !== undefined,
    hasWaited: ofUs['waiting'] !== undefined,
    former: list(ofUs['former-signs']),
    overruled: ofUs['overruled-sign'],
    confirmed: map?.metadata.annotations?.[confirmAnnotation],
  }
}
