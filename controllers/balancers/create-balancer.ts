import { randomUUID } from 'node:crypto'
import type { Balancers, BalancerAnnotations } from '../../clouds/ports/balancers.ts'
import { CloudError } from '../../clouds/ports/cloud.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Service, keyOf, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { balancerRequestAnnotation, serviceFieldManager } from '../../ledger/record/names.ts'
import { withTimeLimit } from '../../lib/time-limit.ts'
import { patch } from '../services/patch-service.ts'

export type CreateDeps = {
  client: KubeClient
  balancers: Balancers
  annotations: BalancerAnnotations
  /** How long a request may take from its note to its answer. */
  budgetMs: number
  monotonicMs: () => number
}

export type NewBalancer = { service: Service; name: string; location: string }

/**
 * Creates the balancer of a Service. We note the request on the Service before we send it, and only if the Service has
 * not changed since we read it. So of two processes only one can send it. The note stays for as long as the request may
 * be carried out.
 */
export async function createBalancer(
  deps: CreateDeps,
  { service, name, location }: NewBalancer,
  signal: AbortSignal,
): Promise<void> {
  const { client, balancers, annotations: names, budgetMs, monotonicMs } = deps
  const endsAtMs = monotonicMs() + budgetMs
  const noted = await note(client, service, names)
  // A process that was stopped in between would send a request that others no longer wait for.
  if (monotonicMs() >= endsAtMs)
    throw new Error('the request for a load balancer was noted too slowly; we note another')
  const timeoutError = () => new Error(`no answer to the request for a load balancer within ${budgetMs / 1000} s`)
  const limits = { ms: endsAtMs - monotonicMs(), timeoutError, signal }
  try {
    const id = await withTimeLimit(limits, (ends) => balancers.create({ name, location }, ends))
    const shown = { [names.id]: id, [names.location]: location, [balancerRequestAnnotation]: null }
    await patch(client, noted, { metadata: { annotations: shown } })
  } catch (error) {
    if (error instanceof CloudError && error.outcome === 'nothing')
      await patch(client, noted, { metadata: { annotations: { [balancerRequestAnnotation]: null } } })
    throw error
  }
}

/** An id that the Service shows is of a balancer that is gone. */
async function note(client: KubeClient, service: Service, names: BalancerAnnotations): Promise<Service> {
  const annotations = { [names.id]: null, [names.location]: null, [balancerRequestAnnotation]: randomUUID() }
  const merge = { metadata: { resourceVersion: service.metadata.resourceVersion, annotations } }
  const target = { ...splitKey(keyOf(service)), patch: { merge } }
  return await client.patch(services, target, { fieldManager: serviceFieldManager })
}
