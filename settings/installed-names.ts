/** Where the project is published. */
export const repository = 'https://github.com/eip-admission/eip-admission'

/** The names of the installed objects. The install command and the process share them. */
export const names = {
  serviceAccount: 'eip-admission',
  deployment: 'eip-admission',
  webhookService: 'eip-admission',
  metricsService: 'eip-admission-metrics',
  authoritySecret: 'eip-admission-ca',
  /** Contains the secret segment of the webhooks' paths. Only the API server knows it. */
  webhookSecret: 'eip-admission-webhook',
  /** The API server calls webhooks in the order of these names. `zz` comes last, so that we see everyone else's changes. */
  mutatingConfiguration: 'zz-eip-admission',
  validatingConfiguration: 'zz-eip-admission',
  /** Contains the BGP peers of the nodes, with their passwords. */
  peersSecret: 'eip-admission-peers',
  /** Contains the password of MetalLB's BGP sessions, in MetalLB's namespace. */
  bgpSecret: 'eip-admission-bgp',
  /** The DaemonSet of the guardians of the control-plane address, its service account and its roles. */
  guardian: 'eip-admission-control-plane',
  /** The Job that runs when the chart is uninstalled, and its rights. */
  cleanup: 'eip-admission-cleanup',
  /** The pod that `helm test` runs. */
  test: 'eip-admission-test',
  /** The webhooks' Certificate and its Secret, if cert-manager issues it. */
  certificate: 'eip-admission-webhook',
  certificateSecret: 'eip-admission-webhook-tls',
  /** The authority that cert-manager makes for us, and its Issuers. */
  issuingAuthority: 'eip-admission-issuing-ca',
  /** Grants the process the right to apply an operator's manifest. */
  manifestRole: 'eip-admission-load-balancer',
  ledgerConfigMap: 'eip-admission-ledger',
  /** Contains what `takeover apply` found of the predecessor, until `takeover undo` has restored it. */
  takeoverConfigMap: 'eip-admission-takeover',
  /** The lease of the running `takeover apply` or `takeover undo`. */
  takeoverLease: 'eip-admission-takeover',
  /** The lease of the guardian that may move the control-plane address. */
  controlPlaneLease: 'eip-admission-control-plane',
} as const

/** The names of both webhook configurations, each once. */
export const webhookConfigurationNames = [...new Set([names.mutatingConfiguration, names.validatingConfiguration])]

/** No node has this label, so a DaemonSet with it as its node selector runs nowhere. */
export const stoppedLabel = 'eip-admission.dev/stopped-by-takeover'

/** The user name of the process at the API server. */
export function serviceAccountUser(namespace: string, name: string = names.serviceAccount): string {
  return `system:serviceaccount:${namespace}:${name}`
}
