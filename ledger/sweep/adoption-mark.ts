import type { KubeClient } from '../../kube/client.ts'
import { isAlreadyExists } from '../../kube/errors.ts'
import { configMaps } from '../../kube/resource.ts'

export type AdoptionMark = {
  /** Whether every reservation with our marks has a record. Called often; a true answer is read again after a second. */
  isSet(signal: AbortSignal): Promise<boolean>
  set(signal: AbortSignal): Promise<void>
}

export type AdoptionMarkOptions = {
  client: KubeClient
  namespace: string
  name: string
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
 * The entry that a sweep writes into a ConfigMap once every reservation of one project has a record. It counts only as
 * long as the process leads that wrote it: a predecessor that led in between may have reserved addresses without a record.
 */
export function adoptionMark(of: AdoptionMarkOptions): AdoptionMark {
  const { client, namespace, name, project, identity, leader, monotonicMs } = of
  let knownUntilMs = -Infinity
  const read = (signal: AbortSignal) => client.get(configMaps, { namespace, name }, { signal })
  const isWritten = async (signal: AbortSignal) => {
    const [stored, current] = await Promise.all([read(signal), leader(signal)])
    const { adopted, 'adopted-by': writer } = stored?.data ?? {}
    return adopted === project && writer !== undefined && writer === current
  }
  return {
    async isSet(signal) {
      const startedMs = monotonicMs()
      if (startedMs < knownUntilMs) return true
      if (!(await isWritten(signal))) return false
      knownUntilMs = startedMs + knownMs
      return true
    },
    async set(signal) {
      if (await isWritten(signal)) return
      const stored = await read(signal)
      const data = { ...stored?.data, adopted: project, 'adopted-by': identity }
      if (stored) await client.replace(configMaps, { ...stored, data }, { signal })
      else await create(of, data, signal)
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
