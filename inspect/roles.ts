import { rbac } from '../manifests/rbac.ts'
import { resourceOf } from '../manifests/resources.ts'
import { metallbConfigMapOf } from '../announcers/metallb/scheme.ts'
import type { Context, RoleObject, Values } from './facts.ts'
import type { ClusterReader } from './reader.ts'

const kinds = ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']

/** The roles and bindings that `install` applies with these settings, and those of the same names in the cluster. */
export async function installedRoles(reader: ClusterReader, context: Context): Promise<Values['roles']> {
  return Promise.all(
    wantedRoles(context).map(async (wanted) => {
      const { name, namespace } = wanted.metadata
      const found = await reader.get(resourceOf(wanted), { name, ...(namespace !== undefined && { namespace }) })
      return { wanted, found }
    }),
  )
}

function wantedRoles({ settings, vendor }: Context): RoleObject[] {
  const { namespace, leaseNamespace, leaseName } = settings.process
  const metallbConfigMap = metallbConfigMapOf({ loadBalancer: vendor.loadBalancer, metallbConfigMap: undefined })
  const objects = rbac({ namespace, leaseNamespace, leaseName, metallbConfigMap }) as RoleObject[]
  return objects.filter(({ kind, metadata: { name } }) => {
    if (!kinds.includes(kind) || ofPeople.includes(name)) return false
    return vendor.controlPlane !== undefined || !name.startsWith('eip-admission-control-plane')
  })
}

/** Operators bind or remove these as they like. */
const ofPeople = ['eip-admission-view', 'eip-admission-editor']
