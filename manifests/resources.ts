import type { KubeObject } from '../kube/objects.ts'
import { type Resource, resourcesOf } from '../kube/resource.ts'

/** The kinds that we install, by their places. */
const kinds = {
  inNamespaces: ['Secret', 'ServiceAccount', 'Role', 'RoleBinding', 'Service'],
  ofCluster: [
    'Namespace',
    'CustomResourceDefinition',
    'ClusterRole',
    'ClusterRoleBinding',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
  ],
}

/** The resource of an installed object. */
export function resourceOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource<KubeObject> {
  const { inNamespaces, ofCluster } = resourcesOf(apiVersion)
  if (kinds.inNamespaces.includes(kind)) return inNamespaces(kind)
  if (kinds.ofCluster.includes(kind)) return ofCluster(kind)
  throw new Error(`${kind}: manifests/resources.ts does not have this kind`)
}
