import type { ValueTree } from '../../manifests/choices.ts'

/** The least that a user sets. */
export const cherry = { cloudProvider: 'cherryservers' }

/** Values of users, one for each value that changes an object. */
export const cases: Record<string, ValueTree> = {
  'the default values': cherry,
  'Equinix Metal': { cloudProvider: 'equinixmetal', settings: { metro: 'da', loadbalancer: 'kube-vip://' } },
  Packet: { cloudProvider: 'packet', settings: { facility: 'da11' } },
  'a control-plane address': { cloudProvider: 'equinix-metal', settings: { 'eip-tag': 'api' } },
  'one port in two networks, and of what is not installed': {
    ...cherry,
    settings: { 'fip-tag': 'api', 'secure-port': 10_268 },
    statusPage: { port: 10_268 },
  },
  'no pod yet, for a takeover': { cloudProvider: 'equinix-metal', replicas: 0, settings: { 'eip-tag': 'api' } },
  "a control-plane address in Cherry's words": { ...cherry, settings: { 'fip-tag': 'api' } },
  'settings of every type, large numbers among them': {
    cloudProvider: 'equinixmetal',
    settings: {
      'local-asn': 4_200_000_000,
      'max-addresses': 1_000_000,
      'exclude-namespaces': ['a', 'b'],
      'allow-retain': false,
      loadbalancer: 'metallb:///metallb-system/config?crdConfiguration=false',
      'cluster-id': 'yes: no # "quoted"',
    },
  },
  'load balancer classes': { ...cherry, settings: { 'load-balancer-class': ['none', 'example.com/ours'] } },
  'load balancer classes as a text': { ...cherry, settings: { 'load-balancer-class': 'example.com/ours, none' } },
  'the host network': { ...cherry, hostNetwork: true, replicas: 3 },
  'cert-manager': { ...cherry, certManager: { enabled: true } },
  'cert-manager with an issuer of the user': {
    ...cherry,
    certManager: { enabled: true, issuerRef: { name: 'ours', kind: 'ClusterIssuer' }, duration: '24h' },
  },
  'cert-manager and webhooks at a URL': {
    ...cherry,
    webhooks: { url: 'https://192.0.2.7:10260' },
    certManager: { enabled: true, dnsNames: ['webhooks.example.com'], ipAddresses: ['192.0.2.7'] },
  },
  'webhooks that fail, and selectors': {
    ...cherry,
    webhooks: {
      failurePolicy: 'Fail',
      excludedNamespaces: ['storage'],
      namespaceSelector: {
        matchLabels: { team: 'web' },
        matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }],
      },
      objectSelector: { matchLabels: { public: 'true' } },
    },
  },
  'webhooks at a URL': { ...cherry, webhooks: { url: 'https://192.0.2.7:10260' } },
  'other ports, lease and ConfigMap': {
    ...cherry,
    settings: {
      'webhook-secure-port': 11_260,
      'secure-port': 11_258,
      'leader-elect-resource-name': 'ours',
      'leader-elect-resource-namespace': 'leases',
    },
    metallb: { configMap: 'metallb-config' },
  },
  'an image by digest': { ...cherry, image: { digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' } },
  'an image by tag, with credentials': {
    ...cherry,
    image: { repository: 'registry.example.com/eip', tag: 'v9' },
    imagePullSecrets: [{ name: 'registry' }],
  },
  'extras of pods': {
    ...cherry,
    settings: { 'fip-tag': 'api' },
    cloudConfig: { secretName: '' },
    nodeSelector: { disk: 'ssd' },
    affinity: { podAntiAffinity: {} },
    tolerations: [],
    topologySpreadConstraints: [],
    priorityClassName: '',
    podAnnotations: { 'example.com/note': 'a: b' },
    podLabels: { 'example.com/team': 'net' },
    serviceAccount: { annotations: { 'example.com/role': 'eip' } },
    commonLabels: { 'example.com/cost': '7' },
    extraContainers: [{ name: 'agent', image: 'agent:1' }],
    extraArgs: ['--v=5'],
    extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
    extraEnvFrom: [{ secretRef: { name: 'token' } }],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
    resources: {},
  },
  'monitoring and a network policy': {
    ...cherry,
    dashboard: { enabled: true, files: { 'eip.json': '{"title": "{{ addresses }}"}' } },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    settings: { 'fip-tag': 'api' },
    prometheusRule: {
      enabled: true,
      disabled: { EIPAdmissionSweepOld: true, EIPAdmissionDown: false },
      runbooks: 'https://wiki.example.com/eip',
      groups: [{ name: 'eip', rules: [{ alert: 'A', expr: 'up{job="x"} == 0' }] }],
    },
    networkPolicy: { enabled: true, webhookCallers: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
  },
  'monitoring as it is by default': {
    ...cherry,
    dashboard: { enabled: true },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
  },
  'a status page with a token': { ...cherry, statusPage: { enabled: true, port: 10_300, tokenSecretName: 'page' } },
  'a status page without a token': { ...cherry, statusPage: { enabled: true } },
  'neither definition, budget nor cleanup': {
    ...cherry,
    crds: { enabled: false },
    podDisruptionBudget: { enabled: false },
    cleanup: { enabled: false },
  },
  'a definition that goes with the chart': { ...cherry, crds: { keep: false } },
}
