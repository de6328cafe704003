import type { Choices } from './choices.ts'
import { names } from '../settings/installed-names.ts'

/** The folders in which the pod finds files from other programs. */
const folders = {
  cloud: '/etc/eip-admission/cloud',
  certificate: '/etc/eip-admission/certificate',
  statusPage: '/etc/eip-admission/status-page',
}

/** The flag by which the process takes its serving certificate from files. */
const certificateFlag = '--webhook-cert-dir'

/** The pod that answers reviews and runs the controllers. */
export function servePod(choices: Choices): object {
  const { block, entries, items } = choices
  return {
    metadata: {
      labels: {
        ...entries('podLabels'),
        'app.kubernetes.io/name': 'eip-admission',
        'app.kubernetes.io/instance': choices.release.name,
      },
      annotations: block('podAnnotations'),
    },
    spec: {
      ...sharedSpec(choices, names.serviceAccount),
      priorityClassName: block('priorityClassName'),
      ...networkOf(choices),
      nodeSelector: block('nodeSelector'),
      affinity: block('affinity'),
      topologySpreadConstraints: block('topologySpreadConstraints'),
      containers: [serveContainer(choices), ...items('extraContainers')],
      volumes: [...volumes(choices), ...items('extraVolumes')],
    },
  }
}

/**
 * Taints of a node without a pod network, on which the host network works. By default the cluster would start no pods
 * there, and after five minutes evict the running ones, whatever a budget says.
 */
const withoutPodNetwork = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
]

/** The network of a pod, and the taints that it therefore tolerates. */
export function networkOf({ items, text, when }: Choices): object {
  const onHost = { value: 'hostNetwork' }
  return {
    hostNetwork: when(onHost, true),
    dnsPolicy: text('dnsPolicy'),
    tolerations: [...withoutPodNetwork.map((taint) => when(onHost, taint)), ...items('tolerations')],
  }
}

/** The common part of all our pods. */
export function sharedSpec({ block }: Choices, serviceAccountName: string): object {
  return {
    serviceAccountName,
    imagePullSecrets: block('imagePullSecrets'),
    securityContext: block('podSecurityContext'),
    // Longer than the shutdown delay and one call to the provider.
    terminationGracePeriodSeconds: 60,
  }
}

/** The pod in which `helm test` runs `doctor`, with the settings and the rights of `serve`. */
export function testPod(choices: Choices): object {
  const { block, flags, items, release } = choices
  const hooks = { 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: names.test,
      namespace: release.namespace,
      annotations: hooks,
      // With the others' name, this pod would get reviews from the webhooks' Service.
      labels: { 'app.kubernetes.io/name': names.test },
    },
    spec: {
      ...sharedSpec(choices, names.serviceAccount),
      restartPolicy: 'Never',
      ...networkOf(choices),
      nodeSelector: block('nodeSelector'),
      containers: [
        {
          name: 'doctor',
          ...imageOf(choices),
          // The process may read less than an administrator.
          args: ['doctor', '--allow-unknown', ...cloudArgs(choices), ...flags('settings'), ...items('extraArgs')],
          env: [...podFacts, ...items('extraEnv')],
          envFrom: block('extraEnvFrom'),
          resources: block('resources'),
          securityContext: block('securityContext'),
          volumeMounts: [cloudMount(choices), ...items('extraVolumeMounts')],
        },
      ],
      volumes: [cloudVolume(choices), ...items('extraVolumes')],
    },
  }
}

function serveContainer(choices: Choices): object {
  const { block, flags, items, scalar, text, when } = choices
  return {
    name: 'eip-admission',
    ...imageOf(choices),
    args: [
      'serve',
      ...cloudArgs(choices),
      when(certManager, `${certificateFlag}=${folders.certificate}`),
      when(statusPage, `--status-page-address=127.0.0.1:${text('statusPage.port')}`),
      when(statusToken, `--status-page-token-file=${folders.statusPage}/token`),
      ...flags('settings'),
      ...items('extraArgs'),
    ],
    env: [...podFacts, ...items('extraEnv')],
    envFrom: block('extraEnvFrom'),
    ports: [
      { name: 'webhook', containerPort: scalar('settings.webhook-secure-port'), protocol: 'TCP' },
      { name: 'health', containerPort: scalar('settings.secure-port'), protocol: 'TCP' },
    ],
    ...probes('HTTPS'),
    resources: block('resources'),
    securityContext: block('securityContext'),
    volumeMounts: [...mounts(choices), ...items('extraVolumeMounts')],
  }
}

const certManager = { value: 'certManager.enabled' }
const cloudConfig = { value: 'cloudConfig.secretName' }
const statusPage = { value: 'statusPage.enabled' }
const statusToken = { value: 'statusPage.tokenSecretName' }

/** The flags that choose the provider and its configuration file. */
export function cloudArgs({ text, when }: Choices): unknown[] {
  const file = `${folders.cloud}/${text('cloudConfig.key')}`
  return [`--cloud-provider=${text('cloudProvider')}`, when(cloudConfig, `--cloud-config=${file}`)]
}

/** The image of the program and how it is pulled. */
export function imageOf({ image, text }: Choices): object {
  return { image, imagePullPolicy: text('image.pullPolicy') }
}

/** A start waits for the API server, so it may take long; without an answer for 10 minutes, the process ends. */
export function probes(scheme: 'HTTP' | 'HTTPS'): object {
  const probe = (path: string) => ({ httpGet: { path, port: 'health', scheme } })
  return {
    // A process with little CPU answers as late while it starts as later.
    startupProbe: { ...probe('/livez'), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 90 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 },
  }
}

/** The process reads its own objects in its pod's namespace, and writes its own Events about the pod. */
export const podFacts = [
  podFact('POD_NAMESPACE', 'metadata.namespace'),
  podFact('POD_NAME', 'metadata.name'),
  podFact('POD_UID', 'metadata.uid'),
]

/** An environment variable with a field of the pod. */
export function podFact(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { fieldPath } } }
}

/** The mount of the provider's configuration. */
export function cloudMount({ when }: Choices): unknown {
  return when(cloudConfig, { name: 'cloud', mountPath: folders.cloud, readOnly: true })
}

/** The volume of the provider's configuration. */
export function cloudVolume({ text, when }: Choices): unknown {
  return when(cloudConfig, { name: 'cloud', secret: { secretName: text('cloudConfig.secretName') } })
}

function mounts(choices: Choices): unknown[] {
  const mount = { name: 'certificate', mountPath: folders.certificate, readOnly: true }
  const token = { name: 'status-page', mountPath: folders.statusPage, readOnly: true }
  return [cloudMount(choices), choices.when(certManager, mount), choices.when(statusToken, token)]
}

/** The certificate may come later: cert-manager may wait for a node that we must prepare. */
function volumes(choices: Choices): unknown[] {
  const secret = { secretName: names.certificateSecret, optional: true }
  const token = { secretName: choices.text('statusPage.tokenSecretName') }
  return [
    cloudVolume(choices),
    choices.when(certManager, { name: 'certificate', secret }),
    choices.when(statusToken, { name: 'status-page', secret: token }),
  ]
}
