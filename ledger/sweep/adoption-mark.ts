import type { KubeClient } from '../../kube/client.ts'
import { isAlreadyExists } from '../../kube/errors.ts'
import { configMaps } from '../../kube/resource.ts'

export type AdoptionMark = {
  /** Whether the mark is there: every reservation with our marks has a record. Asked often, remembered once true. */
  isSet(signal: AbortSignal): Promise<boolean>
  set(signal: AbortSignal): Promise<void>
}

export type AdoptionMarkOptions = { client: KubeClient; namespace: string; name: string; project: string }

/** The mark that a sweep leaves in a ConfigMap once the ledger knows every reservation of one project. */
export function adoptionMark(of: AdoptionMarkOptions): AdoptionMark {
  const { client, namespace, name, project } = of
  let known = false
  const read = (signal: AbortSignal) => client.get(configMaps, { namespace, name }, { signal })
  return {
    async isSet(signal) {
      known ||= (await read(signal))?.data?.['adopted'] === project
      return known
    },
    async set(signal) {
      if (await this.isSet(signal)) return
      const stored = await read(signal)
      const data = { ...stored?.data, adopted: project }
      if (stored) await client.replace(configMaps, { ...stored, data }, { signal })
      else await create(of, data, signal)
      known = true
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
