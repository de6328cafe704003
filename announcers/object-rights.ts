import { announcerRules } from './announcers.ts'
import { metallbConfigMapOf } from './metallb/scheme.ts'
import { type LoadBalancer, secretNamespaceOf } from './setting.ts'
import type { Rule } from '../kube/objects.ts'
import { names } from '../settings/installed-names.ts'

/** Rights to one object of the announcing software: in its namespace, or in every namespace if that is unknown. */
export type ObjectRights = { role: string; what: string; namespace: string | undefined; rules: Rule[] }

const isOfSecret = ({ resourceNames }: Rule) => resourceNames?.includes(names.bgpSecret) ?? false

/** The rights to announcing software that are not limited to a namespace. */
export const unlimitedRules: readonly Rule[] = announcerRules.filter((rule) => !isOfSecret(rule))

/** The rights to single objects of the announcing software, in the namespaces of the load balancer setting. */
export function announcerRights(of: {
  loadBalancer: LoadBalancer | undefined
  metallbConfigMap: string | undefined
}): ObjectRights[] {
  const { name, namespace } = metallbConfigMapOf(of.loadBalancer, of.metallbConfigMap)
  return [
    {
      // MetalLB before 0.13 reads it.
      role: 'eip-admission-metallb',
      what: `ConfigMap ${name}`,
      namespace,
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'update'] }],
    },
    {
      role: names.bgpSecret,
      what: `Secret ${names.bgpSecret}`,
      namespace: secretNamespaceOf(of.loadBalancer),
      rules: announcerRules.filter(isOfSecret),
    },
  ]
}

/** The same rights, but for every namespace if an object does not exist yet. */
export function givenWhere(
  rights: ObjectRights[],
  isThere: (right: ObjectRights & { namespace: string }) => Promise<boolean>,
): Promise<ObjectRights[]> {
  return Promise.all(
    rights.map(async ({ namespace, ...right }) => {
      if (namespace === undefined || (await isThere({ ...right, namespace }))) return { ...right, namespace }
      return { ...right, namespace: undefined }
    }),
  )
}

/**
 * The chart values for these rights that are not defaults. The chart does not derive them from the load balancer
 * setting.
 */
export function chartValuesOf({ loadBalancer }: { loadBalancer: LoadBalancer | undefined }): string[] {
  const { name } = metallbConfigMapOf(loadBalancer)
  return name === 'config' ? [] : [`metallb.configMap=${name}`]
}
