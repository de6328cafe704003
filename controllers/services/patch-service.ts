import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { type Service, keyOf, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { serviceFieldManager } from '../../ledger/record/names.ts'

const written = { fieldManager: serviceFieldManager }

/** Changes a Service, unless it has changed since the step was planned. A deleted one needs no change. */
export async function patch(client: KubeClient, service: Service, change: object): Promise<undefined> {
  const { resourceVersion } = service.metadata
  const merge = {
    ...change,
    metadata: { ...('metadata' in change ? (change.metadata as object) : {}), resourceVersion },
  }
  await unlessGone(client.patch(services, { ...splitKey(keyOf(service)), patch: { merge } }, written))
}

/** Changes the status of this very Service, never of a later Service with its name. */
export async function patchStatus(client: KubeClient, service: Service, status: object): Promise<undefined> {
  // Guarded only by the uid, because software that writes the same status is no conflict.
  const { uid } = service.metadata
  await writeStatus(client, service, { metadata: { uid }, status })
}

/** Changes the status of a Service, unless the Service has changed since the step was planned. */
export async function patchSharedStatus(client: KubeClient, service: Service, status: object): Promise<undefined> {
  const { resourceVersion } = service.metadata
  await writeStatus(client, service, { metadata: { resourceVersion }, status })
}

/** The list of addresses is replaced. Conditions are merged by type, because the software may have its own. */
async function writeStatus(client: KubeClient, service: Service, strategic: object): Promise<void> {
  const target = { ...splitKey(keyOf(service)), patch: { strategic } }
  await unlessGone(client.patch(services, target, { ...written, subresource: 'status' }))
}

/** Another of our controllers may have removed the last finalizer meanwhile, which the next look shows. */
async function unlessGone(patched: Promise<unknown>): Promise<void> {
  try {
    await patched
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Annotations that a patch removes. */
export function withoutAnnotations(names: string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]))
}
