import type { KubeClient } from '../../kube/client.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import type { FoundBefore } from './found.ts'
import type { BegunStep, TakeoverState } from './plan/plan.ts'

/** The record of a takeover: its state, the step that started last, and what was found at the start. */
export type Progress = { state: TakeoverState; step: BegunStep; found: FoundBefore }

const formatVersion = '1'

/** Reads the record of an earlier run. */
export async function readProgress(reader: Pick<KubeClient, 'get'>, namespace: string): Promise<Progress | undefined> {
  const stored = await reader.get(configMaps, { namespace, name: names.takeoverConfigMap })
  return stored && progressIn(stored)
}

/**
 * Writes and removes the ConfigMap of a takeover. The next run reads what to restore from it, but always reads the
 * current state from the cluster.
 */
export function progressStore(client: KubeClient, namespace: string) {
  const at = { namespace, name: names.takeoverConfigMap }
  // A late write must not bring back a record that another run has removed.
  let uid: string | undefined
  return {
    async write({ state, step, found }: Progress): Promise<void> {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...at, ...(uid !== undefined && { uid }) },
        data: { formatVersion, state, step: JSON.stringify(step), found: JSON.stringify(found) },
      }
      const stored = await client.apply<ConfigMap>(configMaps, object, { fieldManager: 'eip-admission-takeover' })
      uid = stored.metadata.uid
    },
    remove: () => client.remove(configMaps, { ...at, uid }),
  }
}

const states: readonly string[] = ['applying', 'applied', 'undoing'] satisfies TakeoverState[]

/** The progress that a ConfigMap records. Throws if we cannot read it, because nothing may be guessed. */
function progressIn({ metadata, data = {} }: ConfigMap): Progress {
  try {
    const { formatVersion: version, state = '', step = '', found = '' } = data
    if (version !== formatVersion || !states.includes(state)) throw new Error(`${version}, ${state}`)
    return {
      state: state as TakeoverState,
      step: JSON.parse(step) as BegunStep,
      found: JSON.parse(found) as FoundBefore,
    }
  } catch (cause) {
    const place = `ConfigMap ${metadata.namespace}/${metadata.name}`
    const remedy = 'use the version of eip-admission that wrote it, or restore it from a backup of the cluster'
    throw new Error(`${place} has no record of a takeover that this version can read; ${remedy}`, { cause })
  }
}
