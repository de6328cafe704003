import { alertGroups, ruleGroup } from '../telemetry/alerts/rules.ts'
import type { Choices } from './choices.ts'
import { dashboardModel } from '../telemetry/dashboard/dashboard.ts'
import { names } from '../settings/installed-names.ts'

const apiVersion = 'monitoring.coreos.com/v1'
const labels = { 'app.kubernetes.io/component': 'metrics' }

/** The Service by which Prometheus finds every replica, including those that are not ready. */
export function metricsService({ release: { namespace }, scalar }: Choices): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: names.metricsService, namespace, labels },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { 'app.kubernetes.io/name': 'eip-admission' },
      ports: [{ name: 'metrics', port: scalar('settings.secure-port'), targetPort: 'health', protocol: 'TCP' }],
    },
  }
}

/**
 * The object that the Prometheus operator reads. The port serves our own certificate, which no outside client trusts.
 */
export function serviceMonitor({ entries, release: { namespace }, text }: Choices): object {
  return {
    apiVersion,
    kind: 'ServiceMonitor',
    metadata: { name: 'eip-admission', namespace, labels: entries('serviceMonitor.labels') },
    spec: {
      selector: { matchLabels: labels },
      endpoints: [
        {
          port: 'metrics',
          scheme: 'https',
          interval: text('serviceMonitor.interval'),
          tlsConfig: { insecureSkipVerify: true },
        },
      ],
    },
  }
}

/** The same for the guardians, which no Service names. They have no certificate, so they answer in plain HTTP. */
export function podMonitor({ entries, release: { namespace }, text }: Choices): object {
  return {
    apiVersion,
    kind: 'PodMonitor',
    metadata: { name: names.guardian, namespace, labels: entries('serviceMonitor.labels') },
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': names.guardian } },
      podMetricsEndpoints: [{ port: 'health', scheme: 'http', interval: text('serviceMonitor.interval') }],
    },
  }
}

/** Our alerts and the user's groups of rules, for the Prometheus operator. */
export function prometheusRule(choices: Choices): object {
  const { entries, items, literal, release, text, unless } = choices
  const wanted = (alert: string, rule: object) => unless({ value: `prometheusRule.disabled.${alert}` }, rule)
  const group = ruleGroup(alertGroups, { runbooks: text('prometheusRule.runbooks'), literal, wanted })
  return {
    apiVersion,
    kind: 'PrometheusRule',
    metadata: { name: 'eip-admission', namespace: release.namespace, labels: entries('prometheusRule.labels') },
    spec: { groups: [group, ...items('prometheusRule.groups')] },
  }
}

/** Our dashboard and the user's, for the sidecar of Grafana that looks for labels. */
export function dashboard({ entries, literal, release: { namespace } }: Choices): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'eip-admission-dashboard', namespace, labels: entries('dashboard.labels') },
    data: { 'eip-admission.json': literal(JSON.stringify(dashboardModel())), ...entries('dashboard.files') },
  }
}

/** No client needs more than the two ports. The API server is on the host network of its node, so its address is open. */
export function networkPolicy({ block, release: { namespace }, scalar }: Choices): object {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'eip-admission', namespace },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'eip-admission' } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: block('networkPolicy.webhookCallers'),
          ports: [{ protocol: 'TCP', port: scalar('settings.webhook-secure-port') }],
        },
        {
          from: block('networkPolicy.metricsReaders'),
          ports: [{ protocol: 'TCP', port: scalar('settings.secure-port') }],
        },
      ],
    },
  }
}
