import { type KubeObject, splitKey, type Rule } from '../kube/objects.ts'
import { type ObjectRights, unlimitedRules } from '../announcers/object-rights.ts'
import { names, webhookConfigurationNames } from '../settings/installed-names.ts'
import { nodeLeaseNamespace } from '../kube/resource.ts'
import { controlPlaneServices } from '../clouds/cloud-choice.ts'

export type RbacOptions = {
  namespace: string
  leaseNamespace: string
  leaseName: string
  announcing: readonly ObjectRights[]
  /** Annotations of the service accounts, if the installer accepts any. */
  accountAnnotations?: unknown
}

const api = 'rbac.authorization.k8s.io/v1'
const group = 'rbac.authorization.k8s.io'

/** The minimum of rights: for the whole cluster, for our namespace, and for the lease. */
export function rbac(options: RbacOptions): object[] {
  const { namespace, leaseNamespace, leaseName, announcing, accountAnnotations: annotations } = options
  const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace })
  const all = account(names.serviceAccount)
  const guardians = [all, account(names.guardian)]
  // A Role needs its namespace: until it is known, the right applies in every namespace.
  const { yes: placed = [], no: anywhere = [] } = Object.groupBy(announcing, (one) => (one.namespace ? 'yes' : 'no'))
  type At = string | undefined
  const bind = (name: string, at: At, rules: Rule[]) => bindRole({ name, at, subjects: [all], rules })
  const bindGuardians = (name: string, at: At, rules: Rule[]) => bindRole({ name, at, subjects: guardians, rules })
  return [
    ...guardians.map(({ name }) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace, ...(annotations !== undefined && { annotations }) },
    })),
    ...bind('eip-admission', undefined, [...clusterRules, ...anywhere.flatMap(({ rules }) => rules)]),
    ...bind('eip-admission', namespace, ownNamespaceRules),
    ...bind('eip-admission-leader', leaseNamespace, leaseRules(leaseName)),
    ...bind('eip-admission-nodes', nodeLeaseNamespace, nodeLeaseRules),
    ...placed.flatMap(({ role, namespace: at, rules }) => bind(role, at, rules)),
    ...bindGuardians(names.guardian, undefined, guardianRules),
    ...bindGuardians(names.guardian, 'default', apiServerRules),
    ...bindGuardians(names.guardian, 'kube-system', mirrorRules),
    ...bindGuardians(`${names.guardian}-leader`, leaseNamespace, leaseRules(names.controlPlaneLease)),
    ...userRoles,
  ]
}

type Subject = { kind: 'ServiceAccount'; name: string; namespace: string }

/** A role with these rules in a namespace, or in the whole cluster, and its binding to these subjects. */
export function bindRole(of: {
  name: string
  at: string | undefined
  subjects: Subject[]
  rules: Rule[]
}): KubeObject[] {
  const { name, at, subjects, rules } = of
  const kind = at === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name, ...(at === undefined ? {} : { namespace: at }) }
  const roleRef = { apiGroup: group, kind, name }
  const role: object = { apiVersion: api, kind, metadata, rules }
  const binding: object = { apiVersion: api, kind: `${kind}Binding`, metadata, roleRef, subjects }
  return [role, binding] as KubeObject[]
}

// A guardian runs on the nodes that have the cluster's secrets, so it has no rights beyond its task.
const guardianRules: Rule[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
]

const clusterRules: Rule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  // The UID of kube-system is the cluster's default id in the marks of every reservation.
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  // A Service that a quota refuses after our webhook gets no address.
  { apiGroups: [''], resources: ['resourcequotas'], verbs: ['list'] },
  // A replaced program that is started again would reserve addresses, too.
  { apiGroups: ['apps'], resources: ['deployments', 'daemonsets'], verbs: ['list'] },
  // No Service may have an address in the cluster's own networks.
  { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['list'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  {
    apiGroups: ['eip-admission.dev'],
    resources: ['elasticips'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
  { apiGroups: ['eip-admission.dev'], resources: ['elasticips/status'], verbs: ['update'] },
  // These do not depend on the setting, which may change without an install.
  ...unlimitedRules,
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: webhookConfigurationNames,
    verbs: ['get', 'patch'],
  },
]

// RBAC cannot name the object of a create: the right to create one Secret is the right to create any.
const ownNamespaceRules: Rule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.authoritySecret], verbs: ['get', 'update'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.webhookSecret], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.peersSecret], verbs: ['get', 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [names.ledgerConfigMap], verbs: ['get', 'update'] },
]

// Other components keep their leases in the same namespace, and any writer of a lease decides who leads.
const leaseRules = (name: string): Rule[] => [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [name], verbs: ['get', 'update'] },
]

// The leases of its kubelets distinguish a cluster from a copy of it.
const nodeLeaseRules: Rule[] = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }]

const elasticIPs = { apiGroups: ['eip-admission.dev'], resources: ['elasticips'] }
const read = ['get', 'list', 'watch']

/**
 * Roles for people. Reading is part of the cluster-wide roles view, edit and admin. Writing is not: it spends money and
 * takes addresses from every namespace, so an operator must bind that role on purpose.
 */
const userRoles = [
  {
    apiVersion: api,
    kind: 'ClusterRole',
    metadata: { name: 'eip-admission-view', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ ...elasticIPs, verbs: read }],
  },
  {
    apiVersion: api,
    kind: 'ClusterRole',
    metadata: { name: 'eip-admission-editor' },
    rules: [{ ...elasticIPs, verbs: [...read, 'create', 'update', 'patch', 'delete'] }],
  },
]

const resourceNames = controlPlaneServices.map((key) => splitKey(key).name)

/** The API servers publish their address in one slice; a few more are no reason to fail. */
const sliceNames = resourceNames.flatMap((service) => [1, 2, 3].map((n) => `${service}-${n}`))

const slices = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] }

/**
 * The rights for the Service of the control-plane address in kube-system. RBAC cannot name the object of a create;
 * existing objects are named, because the right to change another Service's endpoints here would take its traffic.
 */
export const mirrorRules: Rule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['create'] },
  { apiGroups: [''], resources: ['services'], resourceNames, verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['services/status'], resourceNames, verbs: ['patch'] },
  { apiGroups: [''], resources: ['endpoints'], resourceNames, verbs: ['get', 'list', 'watch', 'update'] },
  { ...slices, verbs: ['create', 'list', 'watch'] },
  { ...slices, resourceNames: sliceNames, verbs: ['get', 'update', 'delete'] },
]

/** The mirrored objects, in the namespace default, in which the API servers publish their addresses. */
const apiServerRules: Rule[] = [
  { apiGroups: [''], resources: ['services'], resourceNames: ['kubernetes'], verbs: ['get'] },
  { ...slices, verbs: ['get', 'list', 'watch'] },
]
