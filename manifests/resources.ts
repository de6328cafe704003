import type { KubeObject } from '../kube/objects.ts'
import { type Resource, defineResource } from '../kube/resource.ts'

export const customResourceDefinitions = defineResource<Definition>({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
})

type Definition = KubeObject & { status?: { conditions?: { type: string; status: string }[] } }

/** The place in the API of each kind that we install. */
const places: Record<string, { plural: string; namespaced: boolean }> = {
  Namespace: { plural: 'namespaces', namespaced: false },
  CustomResourceDefinition: { plural: 'customresourcedefinitions', namespaced: false },
  Secret: { plural: 'secrets', namespaced: true },
  ServiceAccount: { plural: 'serviceaccounts', namespaced: true },
  ClusterRole: { plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { plural: 'clusterrolebindings', namespaced: false },
  Role: { plural: 'roles', namespaced: true },
  RoleBinding: { plural: 'rolebindings', namespaced: true },
  Service: { plural: 'services', namespaced: true },
  MutatingWebhookConfiguration: { plural: 'mutatingwebhookconfigurations', namespaced: false },
  ValidatingWebhookConfiguration: { plural: 'validatingwebhookconfigurations', namespaced: false },
}

/** The resource of an installed object. */
export function resourceOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource<KubeObject> {
  const place = places[kind]
  if (!place) throw new Error(`${kind}: manifests/resources.ts has no plural for this kind`)
  return { apiVersion, kind, ...place }
}
