import type { KubeClient } from './client.ts'
import type { Log } from './log.ts'
import { type Key, type Service, splitKey, type ResourceQuota } from './objects.ts'
import { services, resourceQuotas } from './resource.ts'
import { listAll } from './list-all.ts'

type Deps = { client: Pick<KubeClient, 'get'>; cached: (key: Key) => Service | undefined; log: Log }

/** A review waits for this read, and needs the rest of its time for the provider. */
const timeoutMs = 2_000

/**
 * Whether the API server has a Service of a key now; undefined if it does not answer. It is asked only if the cache has
 * the Service, which may be deleted already.
 */
export function existingService({ client, cached, log }: Deps) {
  return async (key: Key, signal: AbortSignal): Promise<boolean | undefined> => {
    if (!cached(key)) return false
    try {
      return (await client.get(services, splitKey(key), { timeoutMs, signal })) !== undefined
    } catch (error) {
      log.warn({ key, error: String(error) }, 'cannot read whether a Service of this name exists')
      return undefined
    }
  }
}

/** A review waits for the quotas, which only save money, so they get little time. */
const quotaTimeoutMs = 2_000

/** Reads the ResourceQuotas of a namespace. If they cannot be read, none is assumed: the API server enforces them anyway. */
export function readQuotas(client: Pick<KubeClient, 'list'>, log: Log) {
  return async (namespace: string, signal: AbortSignal): Promise<readonly ResourceQuota[]> => {
    try {
      return await listAll(client, resourceQuotas, { namespace, timeoutMs: quotaTimeoutMs, signal })
    } catch (error) {
      if (!signal.aborted) log.warn({ namespace, error: String(error) }, 'quotas not read')
      return []
    }
  }
}
