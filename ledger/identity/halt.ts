import type { ConfigMap } from '../../kube/objects.ts'
import { confirmAnnotation } from '../record/names.ts'
import type { HeartbeatEntries } from './heartbeat-plan.ts'

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
