import type { KubeClient } from '../../kube/client.ts'
import { isAlreadyExists } from '../../kube/errors.ts'
import { configMaps } from '../../kube/resource.ts'

export type AdoptionMark = {
  /** Whether every reservation with our marks has a record. Called often; once true, it is not read again. */
  isSet(signal: AbortSignal): Promise<boolean>
  set(signal: AbortSignal): Promise<void>
}

export type AdoptionMarkOptions = { client: KubeClient; namespace: string; name: string; project: string }

/** The entry that a sweep writes into a ConfigMap once every reservation of one project has a record. */
export function adoptionMark(of: AdoptionMarkOptions): AdoptionMark {
  const { client, namespace, name, project } = of
  let isKnown = false
  const read = (signal: AbortSignal) => client.get(configMaps, { namespace, name }, { signal })
  return {
    async isSet(signal) {
      isKnown ||= (await read(signal))?.data?.['adopted'] === project
      return isKnown
    },
    async set(signal) {
      if (await this.isSet(signal)) return
      const stored = await read(signal)
      const data = { ...stored?.data, adopted: project }
      if (stored) await client.replace(configMaps, { ...stored, data }, { signal })
      else await create(of, data, signal)
      isKnown = true
    },
  }
}

async function create(of: AdoptionMarkOptions, data: Record<string, string>, signal: AbortSignal) {
  const metadata = { namespace: of.namespace, name: of.name }
  try {
    await of.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
