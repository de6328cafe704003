import { alertGroups, runbooks } from '../../telemetry/alerts/rules.ts'
import type { ValueTree } from '../choices.ts'
import { names } from '../../settings/installed-names.ts'
import { guardianResources, image, labels, pods, rowsOf, type ValueRow } from './pod-values.ts'

const list = { type: 'array' }
const map = { type: 'object' }
const port = { type: 'integer', minimum: 1, maximum: 65_535 }
const alertNames = alertGroups.flatMap(({ alerts }) => alerts.map(({ name }) => name))
const duration = { type: 'string', pattern: '^([0-9]+(h|m|s|ms))+$' }

const cloud: ValueRow[] = rowsOf({
  cloudProvider: { default: '', sentence: 'The provider: the value of `--cloud-provider`. Required.' },
  'cloudConfig.secretName': {
    default: 'eip-admission-cloud',
    sentence: "The Secret with the provider's configuration file. It is not part of the chart. Empty: there is none.",
  },
  'cloudConfig.key': { default: 'cloud-sa.json', sentence: 'The key of that Secret, a file with one JSON object.' },
  settings: {
    default: {
      'leader-elect-resource-name': 'cloud-controller-manager',
      'leader-elect-resource-namespace': 'kube-system',
      'secure-port': 10_258,
      'webhook-secure-port': 10_260,
    },
    sentence:
      'Every other setting of `eip-admission serve`, named after its flag without the leading dashes, such as ' +
      '`loadbalancer: metallb:///`. A list may be a YAML list.',
  },
  'metallb.configMap': {
    default: 'config',
    sentence: 'The ConfigMap that MetalLB before 0.13 reads. The process may write this ConfigMap and no other there.',
  },
})

const webhooks: ValueRow[] = rowsOf({
  'webhooks.failurePolicy': {
    default: 'Ignore',
    sentence:
      'What the API server does while no replica answers. Ignore: Services are created, and the controller completes ' +
      'them. Fail: creates and updates of LoadBalancer Services are refused, and so are protected deletions. This does ' +
      'not apply to kube-system, to the namespace of the chart, or to writes of the status.',
    schema: { enum: ['Ignore', 'Fail'] },
  },
  'webhooks.excludedNamespaces': {
    default: [],
    sentence:
      'Namespaces whose Services are not reviewed. The controller gives them an address later, unless ' +
      '`settings.exclude-namespaces` names them too.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  'webhooks.namespaceSelector': {
    default: {},
    sentence: 'Labels of the namespaces whose Services are reviewed: `matchLabels`, `matchExpressions`.',
    schema: map,
  },
  'webhooks.objectSelector': { default: {}, sentence: 'Labels of the Services that are reviewed.', schema: map },
  'webhooks.url': {
    default: '',
    sentence:
      'Where API servers call the webhooks if they cannot reach Services, such as `https://10.0.0.5:10260`. Empty: the ' +
      'Service.',
    schema: { type: 'string', pattern: '^(https://[^/]+)?$' },
  },
  'webhooks.pathSecret': {
    default: '',
    sentence:
      'The secret segment of the webhook paths. Empty: Helm generates one and keeps it. Set it if templates are ' +
      'rendered without access to the cluster, as by Argo CD.',
    // The API server accepts no other characters in a path.
    schema: { type: 'string', pattern: '^([a-z0-9][a-z0-9-]{5,61}[a-z0-9])?$' },
  },
})

const certificates: ValueRow[] = rowsOf({
  'certManager.enabled': {
    default: false,
    sentence:
      'cert-manager issues the serving certificate. Otherwise the process issues its own. With cert-manager before 1.19, set `webhooks.failurePolicy` to `Ignore` while you change this.',
  },
  'certManager.issuerRef': {
    default: { name: names.issuingAuthority, kind: 'Issuer' },
    sentence: 'The issuer of the certificate. The default is a CA that cert-manager creates only for this chart.',
    schema: { type: 'object', required: ['name'] },
  },
  'certManager.dnsNames': {
    default: [],
    sentence: 'Additional DNS names of the certificate: the host of `webhooks.url`, if it is a name.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  'certManager.ipAddresses': {
    default: [],
    sentence: 'IP addresses of the certificate: the host of `webhooks.url`, if it is an address.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  'certManager.duration': { default: '2160h', sentence: 'How long the certificate is valid.', schema: duration },
  'certManager.renewBefore': {
    default: '720h',
    sentence: 'How long before it expires the certificate is renewed.',
    schema: duration,
  },
})

const others: ValueRow[] = rowsOf({
  commonLabels: { default: {}, sentence: 'Additional labels of every object.', schema: labels },
  'serviceAccount.annotations': {
    default: {},
    sentence: 'Annotations of the service accounts of the Deployment and of the guardians.',
    schema: map,
  },
  extraObjects: {
    default: [],
    sentence: 'More objects, as maps or as strings. Both are templates: `{{ .Release.Namespace }}` works in them.',
    schema: list,
  },
  'crds.enabled': { default: true, sentence: 'Installs and upgrades the CRD of ElasticIP.' },
  'crds.keep': {
    default: true,
    sentence: 'Keeps the CRD, and so every ElasticIP, when the chart is uninstalled.',
  },
  'cleanup.enabled': {
    default: true,
    sentence:
      'After `helm uninstall`, a Job removes the finalizers of eip-admission from Services and ElasticIPs, which you could not delete ' +
      'otherwise. Every address stays reserved.',
  },
  'controlPlane.securePort': {
    default: 10_268,
    sentence:
      'Port for health and metrics of the DaemonSet, which runs where a setting names the control-plane address.',
    schema: port,
  },
  'controlPlane.apiServerPort': {
    default: 6443,
    sentence: 'Port of the API server on each control-plane node.',
    schema: port,
  },
  'controlPlane.resources': {
    default: guardianResources,
    sentence: 'Requests and limits of the DaemonSet.',
    schema: map,
  },
  'statusPage.enabled': {
    default: false,
    sentence:
      'Shows the status page on a loopback address of the pod, for `kubectl port-forward`. On the host network every ' +
      'user of the host can reach it: set a token there.',
  },
  'statusPage.port': { default: 10_261, sentence: 'The port of the status page.', schema: port },
  'statusPage.tokenSecretName': {
    default: '',
    sentence:
      'A Secret with the token of the status page under the key `token`. With it the page needs that token, and is ' +
      'also at /status of the health port.',
  },
  'networkPolicy.enabled': { default: false, sentence: 'Allows traffic only to the two ports.' },
  'networkPolicy.webhookCallers': {
    default: [],
    sentence: 'Peers that may call the webhooks. Empty: all. API servers are usually not pods: use an ipBlock.',
    schema: list,
  },
  'networkPolicy.metricsReaders': { default: [], sentence: 'Peers that may read metrics. Empty: all.', schema: list },
  'serviceMonitor.enabled': {
    default: false,
    sentence: 'A ServiceMonitor of the Prometheus operator, and a PodMonitor for the guardians if there are any.',
  },
  'serviceMonitor.interval': { default: '30s', sentence: 'How often Prometheus scrapes.', schema: duration },
  'serviceMonitor.labels': { default: {}, sentence: 'Labels that Prometheus uses to select it.', schema: map },
  'prometheusRule.enabled': {
    default: false,
    sentence: 'A PrometheusRule with the alerts (docs/reference/alerts.md).',
  },
  'prometheusRule.disabled': {
    default: {},
    sentence: 'Alerts to leave out, such as `EIPAdmissionSweepOld: true`.',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(alertNames.map((name) => [name, { type: 'boolean' }])),
    },
  },
  'prometheusRule.groups': { default: [], sentence: 'Your own groups of rules, in addition.', schema: list },
  'prometheusRule.runbooks': {
    default: runbooks,
    sentence: 'The page that `runbook_url` of each alert links to, without the heading.',
  },
  'prometheusRule.labels': { default: {}, sentence: 'Labels that Prometheus uses to select it.', schema: map },
  'dashboard.enabled': { default: false, sentence: 'A ConfigMap with the dashboard.' },
  'dashboard.files': {
    default: {},
    sentence: 'Your own dashboards, in addition: file names and JSON texts.',
    schema: map,
  },
  'dashboard.labels': {
    default: { grafana_dashboard: '1' },
    sentence: 'Labels that Grafana uses to select it.',
    schema: map,
  },
})

/** Every value of the chart, in the order in which people look for them. */
export const valueRows: ValueRow[] = [...cloud, ...image, ...pods, ...webhooks, ...certificates, ...others]

/** The chart's default values. */
export function defaultValues(): ValueTree {
  const values: ValueTree = {}
  for (const { path, default: value } of valueRows) {
    const parents = path.split('.')
    const name = parents.pop() ?? ''
    let at = values
    for (const parent of parents) at = (at[parent] ??= {}) as ValueTree
    at[name] = value
  }
  return structuredClone(values)
}
