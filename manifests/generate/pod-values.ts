const list = { type: 'array' }
const map = { type: 'object' }
/** Users' labels are added to ours: a duplicate name would make the object invalid. */
export const labels = { ...map, propertyNames: { not: { pattern: '^(app\\.kubernetes\\.io|helm\\.sh)/' } } }
const quantity = { type: ['string', 'integer'] }

/** The taints of a node that cannot run ordinary pods until we have prepared it. */
const tolerations = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
]

const spread = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'eip-admission' } },
}

const limits = { memory: '384Mi' }

/** Under 4 creates a second a leader with less CPU loses its lease, and Services wait for their addresses. */
const resources = { requests: { cpu: '250m', memory: '128Mi' }, limits }

/** A guardian uses 30m, and no more while it moves the address. */
export const guardianResources = { requests: { cpu: '50m', memory: '128Mi' }, limits }

/** Converts rows by path into a list, in their order. */
export function rowsOf(rows: Record<string, Omit<ValueRow, 'path'>>): ValueRow[] {
  return Object.entries(rows).map(([path, row]) => ({ path, ...row }))
}

/** The values of the image. */
export const image: ValueRow[] = rowsOf({
  'image.repository': {
    default: 'ghcr.io/eip-admission/eip-admission',
    sentence: 'The repository of the image, to which the release workflow publishes.',
  },
  'image.tag': { default: '', sentence: 'The tag of the image. Empty: the version of the chart.' },
  'image.digest': {
    default: '',
    sentence: 'The digest of the image, `sha256:...`. It takes precedence over the tag.',
    schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  },
  'image.pullPolicy': {
    default: 'IfNotPresent',
    sentence: 'When nodes pull the image.',
    schema: { enum: ['Always', 'IfNotPresent', 'Never'] },
  },
  imagePullSecrets: { default: [], sentence: 'Secrets with credentials for the registry.', schema: list },
})

/** The values of the pods of the Deployment. */
export const pods: ValueRow[] = rowsOf({
  replicas: {
    default: 2,
    sentence:
      'Number of pods. All answer reviews; one leads. A rollout keeps that many ready, or one fewer on the host ' +
      'network, where it needs that many nodes to complete. With 0, the guardians of the control-plane address stop too.',
    schema: { type: 'integer', minimum: 0 },
  },
  'podDisruptionBudget.enabled': {
    default: true,
    sentence: 'Keeps a drain from stopping all replicas at the same time.',
  },
  'podDisruptionBudget.maxUnavailable': {
    default: 1,
    sentence: 'How many replicas a drain may stop at a time.',
    schema: quantity,
  },
  priorityClassName: { default: 'system-cluster-critical', sentence: 'The priority of the pods.' },
  nodeSelector: { default: {}, sentence: 'Labels of the nodes that may run the pods.', schema: map },
  affinity: { default: {}, sentence: 'Affinity of the pods.', schema: map },
  tolerations: { default: tolerations, sentence: 'Taints that the pods tolerate.', schema: list },
  topologySpreadConstraints: { default: [spread], sentence: 'How the pods are spread over nodes.', schema: list },
  hostNetwork: {
    default: false,
    sentence:
      'Runs the pods on the network of their nodes. They start before the pod network and keep running when it fails, and an ' +
      'API server that cannot reach pods can reach them. Pod Security "restricted" refuses it.',
  },
  dnsPolicy: {
    default: 'Default',
    sentence:
      'How the pods resolve names. `Default` uses the DNS of the node: cluster DNS starts on initialized nodes, which only ' +
      'eip-admission initializes. Set `ClusterFirst` if `extraEnv` refers to a proxy by its Service name.',
  },
  resources: { default: resources, sentence: 'Requests and limits of the container.', schema: map },
  podSecurityContext: {
    default: { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    sentence: 'Security context of the pods.',
    schema: map,
  },
  securityContext: {
    default: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    sentence: 'Security context of the containers.',
    schema: map,
  },
  podAnnotations: { default: {}, sentence: 'Annotations of the pods.', schema: map },
  podLabels: { default: {}, sentence: 'Additional labels of the pods.', schema: labels },
  extraArgs: {
    default: [],
    sentence:
      'Additional arguments of `serve`, after the settings. The guardians of the control-plane address do not get them.',
    schema: list,
  },
  extraEnv: {
    default: [],
    sentence:
      'Additional environment variables, such as a proxy. The guardians get these too, and also `extraEnvFrom`, ' +
      '`extraVolumes` and `extraVolumeMounts`.',
    schema: list,
  },
  extraEnvFrom: { default: [], sentence: 'Secrets and ConfigMaps with environment variables.', schema: list },
  extraContainers: { default: [], sentence: 'Additional containers of the pods.', schema: list },
  extraVolumes: { default: [], sentence: 'Additional volumes.', schema: list },
  extraVolumeMounts: { default: [], sentence: 'Additional mounts of the container.', schema: list },
})

export type ValueRow = {
  /** Its place in values.yaml, such as `image.tag`. */
  path: string
  default: unknown
  sentence: string
  /** JSON Schema of the value, if its default does not say enough. */
  schema?: object
}
