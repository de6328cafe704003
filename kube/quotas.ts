import type { KubeClient } from './client.ts'
import { listAll } from './list-all.ts'
import type { Log } from './log.ts'
import type { ResourceQuota } from './objects.ts'
import { resourceQuotas } from './resource.ts'

/** A review waits for the quotas, and they only save money: they get little time. */
const timeoutMs = 2_000

/** Reads the ResourceQuotas of a namespace. Where they cannot be read, none is known: the API server decides as ever. */
export function readQuotas(client: Pick<KubeClient, 'list'>, log: Log) {
  return async (namespace: string, signal: AbortSignal): Promise<readonly ResourceQuota[]> => {
    try {
      return await listAll(client, resourceQuotas, { namespace, timeoutMs, signal })
    } catch (error) {
      if (!signal.aborted) log.warn({ namespace, error: String(error) }, 'quotas not read')
      return []
    }
  }
}
