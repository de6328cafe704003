import { type ObjectRights, announcerRights, givenWhere } from '../announcers/object-rights.ts'
import { isControlPlaneGuarded } from '../clouds/ports/cloud-provider.ts'
import { rbac } from '../manifests/rbac.ts'
import { resourceOf } from '../manifests/resources.ts'
import type { Context, RoleObject, Values } from './facts.ts'
import type { ClusterReader } from './reader.ts'

const kinds = ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']

/** The roles and bindings that `install` applies with these settings, and the cluster's own with the same names. */
export async function installedRoles(reader: ClusterReader, context: Context): Promise<Values['roles']> {
  const { loadBalancer } = context.vendor
  // The chart, and an installation before the announcing software, give these rights in each namespace.
  const announcing = await givenWhere(
    announcerRights({ loadBalancer, metallbConfigMap: undefined }),
    async ({ role: name, namespace }) => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, namespace } }
      return (await reader.get(resourceOf(role), role.metadata)) !== undefined
    },
  )
  return Promise.all(
    wantedRoles(context, announcing).map(async (wanted) => {
      const { name, namespace } = wanted.metadata
      const found = await reader.get(resourceOf(wanted), { name, ...(namespace !== undefined && { namespace }) })
      return { wanted, found }
    }),
  )
}

function wantedRoles({ settings, vendor }: Context, announcing: ObjectRights[]): RoleObject[] {
  const { namespace, leaseNamespace, leaseName } = settings.process
  const objects = rbac({ namespace, leaseNamespace, leaseName, announcing }) as RoleObject[]
  return objects.filter(({ kind, metadata: { name } }) => {
    if (!kinds.includes(kind) || ofPeople.includes(name)) return false
    return isControlPlaneGuarded(vendor) || !name.startsWith('eip-admission-control-plane')
  })
}

/** Operators bind or remove these as they like. */
const ofPeople = ['eip-admission-view', 'eip-admission-editor']
