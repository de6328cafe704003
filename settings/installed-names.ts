/** Where the project is published. */
export const repository = 'https://github.com/eip-admission/eip-admission'

/** The names of the installed objects. The install command and the process share them. */
export const names = {
  serviceAccount: 'eip-admission',
  deployment: 'eip-admission',
  webhookService: 'eip-admission',
  metricsService: 'eip-admission-metrics',
  authoritySecret: 'eip-admission-ca',
  /** Holds the secret segment of the webhooks' paths. Only the API server knows it. */
  webhookSecret: 'eip-admission-webhook',
  /** The API server calls webhooks in the order of these names: `zz` is last, so that we see the changes of all others. */
  mutatingConfiguration: 'zz-eip-admission',
  validatingConfiguration: 'zz-eip-admission',
  /** Holds the BGP peers of the nodes, passwords included. */
  peersSecret: 'eip-admission-peers',
  /** Holds the password of MetalLB's BGP sessions, in MetalLB's namespace. */
  bgpSecret: 'eip-admission-bgp',
  /** The DaemonSet of the guardians, which only guard the control-plane address, their service account and its roles. */
  guardian: 'eip-admission-control-plane',
  /** The Job that runs when the chart is uninstalled, and its rights. */
  cleanup: 'eip-admission-cleanup',
  /** The pod that `helm test` runs. */
  test: 'eip-admission-test',
  /** The Certificate of the webhooks and its Secret, where cert-manager issues it. */
  certificate: 'eip-admission-webhook',
  certificateSecret: 'eip-admission-webhook-tls',
  /** The authority that cert-manager makes for us, and its Issuers. */
  issuingAuthority: 'eip-admission-issuing-ca',
  /** Gives the process the right to apply an operator's manifest. */
  manifestRole: 'eip-admission-load-balancer',
  ledgerConfigMap: 'eip-admission-ledger',
  /** Holds what `takeover apply` found of the predecessor, until `takeover undo` has brought it back. */
  takeoverConfigMap: 'eip-admission-takeover',
  /** The lease of the `takeover apply` or `takeover undo` that works. */
  takeoverLease: 'eip-admission-takeover',
  /** The lease of the guardian that may move the control-plane address. */
  controlPlaneLease: 'eip-admission-control-plane',
} as const

/** The names of both webhook configurations, each once. */
export const webhookConfigurationNames = [...new Set([names.mutatingConfiguration, names.validatingConfiguration])]

/** No node has this label: a DaemonSet whose node selector has it runs nowhere. */
export const stoppedLabel = 'eip-admission.dev/stopped-by-takeover'

/** The user name of the process at the API server. */
export function serviceAccountUser(namespace: string, name: string = names.serviceAccount): string {
  return `system:serviceaccount:${namespace}:${name}`
}
