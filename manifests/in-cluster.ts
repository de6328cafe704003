import { announcerRights } from '../announcers/object-rights.ts'
import type { Choices, Condition } from './choices.ts'
import { cleanupJob } from './cleanup-job.ts'
import { elasticIPDefinition } from './elastic-ip-crd.ts'
import { webhookSecret, webhookService } from './install.ts'
import { dashboard, metricsService, networkPolicy, podMonitor, prometheusRule, serviceMonitor } from './monitoring.ts'
import { names, stoppedLabel } from '../settings/installed-names.ts'
import { withoutClass } from '../settings/service-policy.ts'
import { rbac } from './rbac.ts'
import { type WebhookFacts, type WebhookPolicy, byService, webhookConfigurations } from './webhook-configurations.ts'
import {
  servePod,
  testPod,
  cloudArgs,
  cloudMount,
  cloudVolume,
  imageOf,
  podFact,
  podFacts,
  probes,
  sharedSpec,
} from './pod.ts'

/** Objects that are installed together, all or none. */
export type Part = {
  file: string
  /** Installed if all of these are met. */
  conditions: Condition[]
  objects: object[]
  /** Needs features that only Helm has: hooks, or reads from the cluster. */
  helmOnly?: true
}

/**
 * Everything that runs the product inside a cluster, in the order in which it is applied. Guardians run if one of the
 * values `guardedBy` is set.
 */
export function inClusterParts(choices: Choices, webhooks: WebhookFacts[], guardedBy: readonly string[]): Part[] {
  const { namespace } = choices.release
  const on = (value: string, is?: string): Condition => ({ value, ...(is !== undefined && { is }) })
  const withCertManager = on('certManager.enabled')
  const guarded = { anyOf: guardedBy }
  const part = (file: string, objects: object[], ...conditions: Condition[]): Part => ({
    file,
    conditions,
    objects: objects.map((object) => labelled(object, choices)),
  })
  return [
    part('elastic-ip-crd', [keptDefinition(choices)], on('crds.enabled')),
    { ...part('webhook-secret', [webhookSecret(namespace, choices)]), helmOnly: true },
    part('rbac', rbac(rights(choices))),
    part('service', [webhookService(namespace, 'webhook'), metricsService(choices)]),
    part('deployment', [deployment(choices)]),
    part('pod-disruption-budget', [podDisruptionBudget(choices)], on('podDisruptionBudget.enabled')),
    part('control-plane', [controlPlaneDaemonSet(choices)], guarded),
    part('network-policy', [networkPolicy(choices)], on('networkPolicy.enabled')),
    part('certificate', [servingCertificate(choices)], withCertManager),
    part('issuers', ownIssuers(choices), withCertManager, on('certManager.issuerRef.name', names.issuingAuthority)),
    part('service-monitor', [serviceMonitor(choices)], on('serviceMonitor.enabled')),
    part('pod-monitor', [podMonitor(choices)], on('serviceMonitor.enabled'), guarded),
    part('prometheus-rule', [prometheusRule(choices)], on('prometheusRule.enabled')),
    part('dashboard', [dashboard(choices)], on('dashboard.enabled')),
    part('webhook-configurations', webhookConfigurations(webhookOptions(choices, webhooks))),
    { ...part('cleanup', cleanupJob(choices), on('cleanup.enabled')), helmOnly: true },
    { ...part('test', [testPod(choices)]), helmOnly: true },
  ]
}

function rights({ block, release: { namespace }, text }: Choices) {
  return {
    namespace,
    accountAnnotations: block('serviceAccount.annotations'),
    leaseNamespace: text('settings.leader-elect-resource-namespace'),
    leaseName: text('settings.leader-elect-resource-name'),
    announcing: announcerRights({ loadBalancer: undefined, metallbConfigMap: text('metallb.configMap') }),
  }
}

function webhookOptions(choices: Choices, webhooks: WebhookFacts[]) {
  const { block, items, joined, pathSecret, release, text, unless, when } = choices
  const policy: WebhookPolicy = {
    failurePolicy: text('webhooks.failurePolicy'),
    classes: joined('settings.load-balancer-class', withoutClass),
    excludedNamespaces: [
      // With Ignore nothing depends on us. With Fail the cluster must be able to repair itself without us.
      when({ value: 'webhooks.failurePolicy', is: 'Fail' }, 'kube-system'),
      ...items('webhooks.excludedNamespaces'),
    ],
    namespaceExpressions: items('webhooks.namespaceSelector.matchExpressions'),
    namespaceLabels: block('webhooks.namespaceSelector.matchLabels'),
    objectSelector: block('webhooks.objectSelector'),
    // cert-manager’s cainjector writes the authority into the configuration.
    annotations: when(
      { value: 'certManager.enabled' },
      { 'cert-manager.io/inject-ca-from': `${choices.release.namespace}/${names.certificate}` },
    ),
    clientConfig: (path) => ({
      url: when({ value: 'webhooks.url' }, `${text('webhooks.url')}${path}`),
      service: unless({ value: 'webhooks.url' }, byService(release.namespace, path).service),
    }),
  }
  return { namespace: release.namespace, webhooks, pathSecret, policy }
}

/** Helm deletes what it installed. Without the CRD, every record would be deleted, too. */
function keptDefinition({ when }: Choices): object {
  const annotations = when({ value: 'crds.keep' }, { 'helm.sh/resource-policy': 'keep' })
  return { ...elasticIPDefinition, metadata: { ...elasticIPDefinition.metadata, annotations } }
}

type LabelledObject = { apiVersion: string; kind: string; metadata: { labels?: object } }

function labelled(object: object, { entries, release }: Choices): object {
  const { apiVersion, kind, metadata, ...rest } = object as LabelledObject
  const common = {
    ...entries('commonLabels'),
    'helm.sh/chart': release.chart,
    'app.kubernetes.io/name': 'eip-admission',
    'app.kubernetes.io/instance': release.name,
    'app.kubernetes.io/version': release.version,
    'app.kubernetes.io/managed-by': release.manager,
  }
  return { apiVersion, kind, metadata: { ...metadata, labels: { ...common, ...metadata.labels } }, ...rest }
}

const selector = { matchLabels: { 'app.kubernetes.io/name': 'eip-admission' } }

/** The Deployment that answers reviews and runs the controllers. */
function deployment(choices: Choices): object {
  const { either, release, scalar } = choices
  const onHost = { value: 'hostNetwork' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: names.deployment, namespace: release.namespace },
    spec: {
      replicas: scalar('replicas'),
      revisionHistoryLimit: 3,
      strategy: {
        type: 'RollingUpdate',
        // On the host network a new pod needs the ports of an old one, while another pod answers.
        rollingUpdate: { maxSurge: either(onHost, 0, 1), maxUnavailable: either(onHost, 1, 0) },
      },
      selector,
      template: servePod(choices),
    },
  }
}

/** Keeps a replica while nodes are drained. */
function podDisruptionBudget({ release, scalar }: Choices): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: names.deployment, namespace: release.namespace },
    spec: {
      maxUnavailable: scalar('podDisruptionBudget.maxUnavailable'),
      // A replica that answers nothing protects nothing: it must not block the drain of its node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector,
    },
  }
}

const apiVersion = 'cert-manager.io/v1'
const issuers = { selfSigned: 'eip-admission-selfsigned', authority: names.issuingAuthority }

/** An authority that cert-manager makes only for us, if no other issuer is named. */
function ownIssuers({ release: { namespace } }: Choices): object[] {
  return [
    { apiVersion, kind: 'Issuer', metadata: { name: issuers.selfSigned, namespace }, spec: { selfSigned: {} } },
    {
      apiVersion,
      kind: 'Certificate',
      metadata: { name: names.issuingAuthority, namespace },
      spec: {
        isCA: true,
        commonName: 'eip-admission CA of cert-manager',
        secretName: names.issuingAuthority,
        duration: '87600h',
        privateKey: { algorithm: 'ECDSA', size: 256 },
        issuerRef: { name: issuers.selfSigned, kind: 'Issuer' },
      },
    },
    {
      apiVersion,
      kind: 'Issuer',
      metadata: { name: issuers.authority, namespace },
      spec: { ca: { secretName: names.issuingAuthority } },
    },
  ]
}

/** The serving certificate of the webhooks, for the names under which the API server calls them. */
function servingCertificate({ block, items, release: { namespace }, text }: Choices): object {
  const host = `${names.webhookService}.${namespace}.svc`
  return {
    apiVersion,
    kind: 'Certificate',
    metadata: { name: names.certificate, namespace },
    spec: {
      secretName: names.certificateSecret,
      dnsNames: [host, `${host}.cluster.local`, ...items('certManager.dnsNames')],
      ipAddresses: block('certManager.ipAddresses'),
      usages: ['server auth'],
      duration: text('certManager.duration'),
      renewBefore: text('certManager.renewBefore'),
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: block('certManager.issuerRef'),
    },
  }
}

const labels = { 'app.kubernetes.io/name': names.guardian }

/**
 * The process on every control-plane node that moves the control-plane address. It talks to the API server of its own
 * node, because the address that it moves may lead nowhere at that moment.
 */
function controlPlaneDaemonSet(choices: Choices): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: names.guardian, namespace: choices.release.namespace },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: {
        metadata: { labels: { ...labels, 'app.kubernetes.io/instance': choices.release.name } },
        spec: {
          ...sharedSpec(choices, names.guardian),
          priorityClassName: 'system-node-critical',
          hostNetwork: true,
          dnsPolicy: 'Default',
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onControlPlane } },
          // A takeover installs the chart with 0 replicas, while the predecessor still moves the address.
          nodeSelector: choices.when({ value: 'replicas', is: 0 }, { [stoppedLabel]: 'true' }),
          // The address must have a holder, whatever taints the nodes have.
          tolerations: [{ operator: 'Exists' }],
          containers: [container(choices)],
          volumes: [cloudVolume(choices), ...choices.items('extraVolumes')],
        },
      },
    },
  }
}

const onControlPlane = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }] }],
}

function container(choices: Choices): object {
  const { block, flags, items, scalar, text } = choices
  return {
    name: names.guardian,
    ...imageOf(choices),
    args: [
      'serve',
      '--only=control-plane',
      ...cloudArgs(choices),
      ...flags('settings'),
      // The Deployment may use the host's ports too.
      `--secure-port=${text('controlPlane.securePort')}`,
      // The last of two equal flags counts: the Deployment's API server may be at the address that the guardian moves.
      `--api-server=https://$(HOST_IP):${text('controlPlane.apiServerPort')}`,
    ],
    env: [
      ...podFacts,
      podFact('NODE_NAME', 'spec.nodeName'),
      podFact('HOST_IP', 'status.hostIP'),
      ...items('extraEnv'),
    ],
    envFrom: block('extraEnvFrom'),
    ports: [{ name: 'health', containerPort: scalar('controlPlane.securePort'), protocol: 'TCP' }],
    // It has no certificate: only the kubelet and Prometheus call it.
    ...probes('HTTP'),
    resources: block('controlPlane.resources'),
    securityContext: block('securityContext'),
    volumeMounts: [cloudMount(choices), ...items('extraVolumeMounts')],
  }
}
