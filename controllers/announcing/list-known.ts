import type { KubeClient, ListOptions } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { KubeObject } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'

/** All objects of a kind; none if the cluster does not know the kind. */
export function listAllKnown(
  client: KubeClient,
  resource: Resource<KubeObject>,
  options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'signal'>,
): Promise<KubeObject[]> {
  return ifKnown([], async () => {
    // The items of a list lack apiVersion and kind.
    const { apiVersion, kind } = resource
    return (await listAll(client, resource, options)).map((item) => ({ ...item, apiVersion, kind }))
  })
}

/** The result of a read, or something else if the cluster does not know the kind. */
export async function ifKnown<T>(otherwise: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof KubeError && error.reason === 'UnknownKind') return otherwise
    throw error
  }
}
