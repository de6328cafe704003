// The objects in the manifests of a predecessor.
import { type PredecessorProgram, argsOf } from './programs.ts'

export const namespace = 'kube-system'

/** The label of the nodes on which its DaemonSet runs. */
export const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

/** The user as which its pods write, and the groups of it: a stage has to know them. */
export function userOf({ account }: PredecessorProgram): Record<string, string[]> {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
  return { [`system:serviceaccount:${namespace}:${account}`]: groups }
}

/** Its Secret, rights and workload; a Deployment runs on `node`. */
export function objectsOf(program: PredecessorProgram, { file, node }: { file: string; node: string }): object[] {
  const { name, secret, account } = program
  const metadata = { name: account, namespace }
  const role = roleNames[program.kind]
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, namespace },
      stringData: { 'cloud-sa.json': file },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: role }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'apps/v1', metadata: { name, namespace, labels: { app: name } }, ...workloadOf(program, node) },
  ]
}

function workloadOf(program: PredecessorProgram, node: string): object {
  const { kind, name, account, secret, image } = program
  const labels = { app: name }
  const command = [`./${name}`, ...argsOf(program)]
  const volumeMounts = [{ name: 'cloud-sa-volume', mountPath: '/etc/cloud-sa', readOnly: true }]
  const spec = {
    hostNetwork: true,
    serviceAccountName: account,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name, image, command, volumeMounts }],
    volumes: [{ name: 'cloud-sa-volume', secret: { secretName: secret } }],
  }
  const selector = { matchLabels: labels }
  if (kind === 'DaemonSet')
    return { kind, spec: { selector, template: { metadata: { labels }, spec: { ...spec, affinity } } } }
  return {
    kind,
    spec: { replicas: 1, selector, template: { metadata: { labels }, spec: { ...spec, nodeName: node } } },
  }
}

const onControlPlanes = { matchExpressions: [{ key: controlPlaneLabel, operator: 'Exists' }] }
const affinity = {
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [onControlPlanes] } },
}

const roleNames = { DaemonSet: 'cloud-provider-equinix-metal', Deployment: 'system:cloud-controller-manager' }

const allButDelete = ['get', 'list', 'watch', 'create', 'update', 'patch']

/** The rights that the manifests give. */
const rules = [
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['*'] },
  { apiGroups: [''], resources: ['nodes/status', 'services/status'], verbs: ['list', 'watch', 'update', 'patch'] },
  { apiGroups: [''], resources: ['services', 'endpoints', 'configmaps', 'events'], verbs: allButDelete },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: allButDelete },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: allButDelete },
  {
    apiGroups: ['metallb.io'],
    resources: ['bgppeers', 'bgpadvertisements', 'ipaddresspools'],
    verbs: [...allButDelete, 'delete'],
  },
]
