import { names } from './names.ts'

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }

export type RbacOptions = {
  namespace: string
  leaseNamespace: string
  leaseName: string
  /** The name of the ConfigMap that MetalLB before 0.13 reads. */
  metallbConfigMap: string
}

const api = 'rbac.authorization.k8s.io/v1'
const group = 'rbac.authorization.k8s.io'

/** The minimum of rights: for the whole cluster, for our namespace, and for the lease. */
export function rbac(options: RbacOptions): object[] {
  const { namespace, leaseNamespace, leaseName, metallbConfigMap } = options
  const subjects = [{ kind: 'ServiceAccount', name: names.serviceAccount, namespace }]
  const inNamespace = (name: string, at: string, rules: Rule[]) => [
    { apiVersion: api, kind: 'Role', metadata: { name, namespace: at }, rules },
    {
      apiVersion: api,
      kind: 'RoleBinding',
      metadata: { name, namespace: at },
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects,
    },
  ]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: names.serviceAccount, namespace } },
    {
      apiVersion: api,
      kind: 'ClusterRole',
      metadata: { name: 'eip-admission' },
      rules: clusterRules(metallbConfigMap),
    },
    {
      apiVersion: api,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'eip-admission' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'eip-admission' },
      subjects,
    },
    ...inNamespace('eip-admission', namespace, ownNamespaceRules),
    ...inNamespace('eip-admission-leader', leaseNamespace, leaseRules(leaseName)),
    ...userRoles,
  ]
}

const clusterRules = (metallbConfigMap: string): Rule[] => [
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  // The UID of kube-system is the cluster's default id in the marks of every reservation.
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  // A Service that a quota refuses after our webhook gets no address.
  { apiGroups: [''], resources: ['resourcequotas'], verbs: ['list'] },
  // No Service may have an address of the cluster's own networks.
  { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['list'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  {
    apiGroups: ['eip-admission.dev'],
    resources: ['elasticips'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
  { apiGroups: ['eip-admission.dev'], resources: ['elasticips/status'], verbs: ['update'] },
  // MetalLB may be in any namespace, and may be installed after us. No other program has such objects.
  {
    apiGroups: ['metallb.io'],
    resources: ['ipaddresspools', 'bgppeers', 'bgpadvertisements'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
  },
  { apiGroups: ['metallb.io'], resources: ['configurationstates'], verbs: ['list'] },
  {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [names.bgpSecret],
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  // In MetalLB's namespace, which may be any.
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [metallbConfigMap], verbs: ['get', 'update'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: [names.mutatingConfiguration, names.validatingConfiguration],
    verbs: ['get', 'patch'],
  },
]

// RBAC cannot name the object of a create: the right to create one Secret is the right to create any.
const ownNamespaceRules: Rule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.authoritySecret], verbs: ['get', 'update'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.webhookSecret], verbs: ['get', 'update'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [names.peersSecret], verbs: ['get', 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [names.ledgerConfigMap], verbs: ['get', 'update'] },
]

// Other components keep their leases in the same namespace, and whoever writes a lease decides who leads.
const leaseRules = (name: string): Rule[] => [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [name], verbs: ['get', 'update'] },
]

const elasticIPs = { apiGroups: ['eip-admission.dev'], resources: ['elasticips'] }
const read = ['get', 'list', 'watch']

/**
 * Roles for people. To read belongs to the cluster-wide roles view, edit and admin. To write does not: it spends money and
 * takes addresses from every namespace, so an operator binds that role on purpose.
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
