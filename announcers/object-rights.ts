import { announcerRules } from './announcers.ts'
import { metallbConfigMapOf } from './metallb/scheme.ts'
import { type LoadBalancer, secretNamespaceOf } from './setting.ts'
import type { Rule } from '../kube/objects.ts'
import { names } from '../settings/installed-names.ts'

/** Rights to one object of the announcing software: in its namespace, or without one in each. */
export type ObjectRights = { role: string; what: string; namespace: string | undefined; rules: Rule[] }

const isOfSecret = ({ resourceNames }: Rule) => resourceNames?.includes(names.bgpSecret) ?? false

/** The rights to announcing software that no namespace limits. */
export const unlimitedRules: readonly Rule[] = announcerRules.filter((rule) => !isOfSecret(rule))

/** The rights to single objects of the announcing software, where the load balancer setting says that they are. */
export function announcerRights(of: {
  loadBalancer: LoadBalancer | undefined
  metallbConfigMap: string | undefined
}): ObjectRights[] {
  const { name, namespace } = metallbConfigMapOf(of)
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

/** The same, but in each namespace where something is not there yet. */
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

/** The values of the chart for these rights that are not its defaults. It does not learn them from the load balancer setting. */
export function chartValuesOf({ loadBalancer }: { loadBalancer: LoadBalancer | undefined }): string[] {
  const { name } = metallbConfigMapOf({ loadBalancer, metallbConfigMap: undefined })
  return name === 'config' ? [] : [`metallb.configMap=${name}`]
}
