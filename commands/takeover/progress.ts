import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from '../../kube/client.ts'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import type { FoundBefore } from './found.ts'
import type { BegunStep, TakeoverState } from './takeover-status.ts'

/** The record of a takeover: its state, the step that started last, and what was found at the start. */
export type Progress = { state: TakeoverState; step: BegunStep; found: FoundBefore }

export type ProgressStore = {
  read(): Promise<Progress | undefined>
  /** Throws a conflict if another run wrote meanwhile. */
  write(progress: Progress): Promise<void>
  remove(): Promise<void>
}

const formatVersion = 1

/** Reads the record of an earlier run. */
export async function readProgress(reader: Pick<KubeClient, 'get'>, namespace: string): Promise<Progress | undefined> {
  const stored = await reader.get(configMaps, { namespace, name: names.takeoverConfigMap })
  return stored && progressIn(stored)
}

/**
 * The ConfigMap of a takeover. The next run reads what to restore from it, but always reads the current state from the
 * cluster.
 */
export function progressStore(client: KubeClient, namespace: string): ProgressStore {
  const at = { namespace, name: names.takeoverConfigMap }
  let stored: ConfigMap | undefined
  return {
    async read() {
      stored = await client.get(configMaps, at)
      return stored && progressIn(stored)
    },
    async write(progress) {
      const data = {
        state: progress.state,
        step: JSON.stringify(progress.step),
        found: JSON.stringify(progress.found),
      }
      const object: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: stored?.metadata ?? at,
        data: { formatVersion: String(formatVersion), ...data },
      }
      try {
        stored = stored ? await client.replace(configMaps, object) : await client.create(configMaps, object)
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error)) throw error
        const now = await client.get(configMaps, at)
        // It may be our own write, if its answer was lost.
        if (!isDeepStrictEqual(now?.data, object.data)) throw error
        stored = now
      }
    },
    async remove() {
      await client.remove(configMaps, { ...at, uid: stored?.metadata.uid })
      stored = undefined
    },
  }
}

const states: readonly string[] = ['applying', 'applied', 'undoing'] satisfies TakeoverState[]

/** The progress that a ConfigMap records. Throws if we cannot read it, because nothing may be guessed. */
function progressIn({ metadata, data = {} }: ConfigMap): Progress {
  try {
    const { formatVersion: version, state = '', step = '', found = '' } = data
    if (version !== String(formatVersion) || !states.includes(state)) throw new Error(`${version}, ${state}`)
    return {
      state: state as TakeoverState,
      step: JSON.parse(step) as BegunStep,
      found: JSON.parse(found) as FoundBefore,
    }
  } catch (cause) {
    const place = `ConfigMap ${metadata.namespace}/${metadata.name}`
    const remedy = 'use the eip-admission that wrote it, or restore it from a backup of the cluster'
    throw new Error(`${place} has no record of a takeover that this version can read; ${remedy}`, { cause })
  }
}
