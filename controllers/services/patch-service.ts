import type { KubeClient } from '../../kube/client.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'

/** Changes a Service only if it still is the one that the step was planned for. */
export async function patch(client: KubeClient, service: Service, change: object): Promise<undefined> {
  const { resourceVersion } = service.metadata
  const merge = {
    ...change,
    metadata: { ...('metadata' in change ? (change.metadata as object) : {}), resourceVersion },
  }
  await client.patch(services, { ...splitKey(keyOf(service)), patch: { merge } })
}

/** Changes the status of a Service. */
export async function patchStatus(client: KubeClient, service: Service, status: object): Promise<undefined> {
  await client.patch(services, { ...splitKey(keyOf(service)), patch: { merge: { status } } }, { subresource: 'status' })
}

/** Annotations that a patch takes off. */
export function without(names: string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]))
}
