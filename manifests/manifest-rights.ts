import type { KubeObject, Rule } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import { bindRole } from './rbac.ts'

/** An object of an operator's manifest, and its place in the API. */
export type ManifestPart = { object: KubeObject; resource: Pick<Resource<KubeObject>, 'plural' | 'namespaced'> }

/** The objects that grant the rights, or why these rights would be too many or too few. */
export type ManifestRights = { objects: KubeObject[]; problems: string[] }

/**
 * The rights to apply an operator's manifest: to create and patch exactly its objects, by name, and the rights that its
 * own roles give. RBAC lets no one create a role with rights that they do not have. The verbs `escalate` and `bind` lift
 * this, and would let the process write itself any right. Pure.
 */
export function manifestRights(parts: ManifestPart[], { namespace }: { namespace: string }): ManifestRights {
  const problems = parts.flatMap((part) => problemOf(part, parts) ?? [])
  const scopes = Map.groupBy(parts, ({ object, resource }) =>
    resource.namespaced ? object.metadata.namespace : undefined,
  )
  const subjects = [{ kind: 'ServiceAccount' as const, name: names.serviceAccount, namespace }]
  const roles = [...scopes].flatMap(([at, scoped]) =>
    bindRole({ name: names.manifestRole, at, rules: [...applyRules(scoped), ...scoped.flatMap(rulesOf)], subjects }),
  )
  // A Role needs its namespace, which the manifest usually creates.
  const namespaces = parts.map(({ object }) => object).filter(isOf('v1', 'Namespace'))
  const bare = namespaces.map(({ apiVersion, kind, metadata: { name } }) => ({ apiVersion, kind, metadata: { name } }))
  return { objects: [...bare, ...roles], problems }
}

function applyRules(parts: ManifestPart[]): Rule[] {
  const kinds = Map.groupBy(parts, ({ object, resource }) => `${groupOf(object)}/${resource.plural}`)
  return [...kinds].map(([kind, same]) => {
    const [apiGroup = '', plural = ''] = kind.split('/')
    const resourceNames = [...new Set(same.map(({ object }) => object.metadata.name))]
    return { apiGroups: [apiGroup], resources: [plural], resourceNames, verbs: ['create', 'patch'] }
  })
}

type Role = KubeObject & { rules?: Rule[] | null; aggregationRule?: unknown }
const rbac = 'rbac.authorization.k8s.io/v1'
const isRole = (object: KubeObject): object is Role => isOf(rbac, 'Role')(object) || isOf(rbac, 'ClusterRole')(object)
const isBinding = (object: KubeObject): object is KubeObject & { roleRef?: { kind?: string; name?: string } } =>
  isOf(rbac, 'RoleBinding')(object) || isOf(rbac, 'ClusterRoleBinding')(object)

function rulesOf({ object }: ManifestPart): Rule[] {
  return isRole(object) ? (object.rules ?? []) : []
}

function problemOf({ object, resource }: ManifestPart, parts: ManifestPart[]): string | undefined {
  const { kind, metadata } = object
  const { name, namespace } = metadata
  if (resource.namespaced && namespace === undefined) return `${kind} ${name} names no namespace`
  if (isRole(object) && object.aggregationRule !== undefined)
    return `${kind} ${name} has an aggregationRule, whose rights are not known beforehand`
  if (!isBinding(object)) return undefined
  const { roleRef = {} } = object
  const isIn = parts.some(
    ({ object: role }) =>
      isRole(role) &&
      role.kind === roleRef.kind &&
      role.metadata.name === roleRef.name &&
      (role.kind === 'ClusterRole' || role.metadata.namespace === namespace),
  )
  return isIn ? undefined : `${kind} ${name} binds ${roleRef.kind} ${roleRef.name}, which is not in the file`
}

function groupOf({ apiVersion }: KubeObject): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
}

function isOf(apiVersion: string, kind: string): (object: KubeObject) => boolean {
  return (object) => object.apiVersion === apiVersion && object.kind === kind
}
