/** Names of what is installed, known to whoever installs it and to whoever runs in it. */
export const names = {
  serviceAccount: 'eip-admission',
  webhookService: 'eip-admission',
  authoritySecret: 'eip-admission-ca',
  /** Holds the part of the webhooks' paths that only the API server knows. */
  webhookSecret: 'eip-admission-webhook',
  /** Configurations run in the order of their names: last, so that we see what all others made of the Service. */
  mutatingConfiguration: 'zz-eip-admission',
  validatingConfiguration: 'zz-eip-admission',
  /** Keeps whom the nodes speak BGP with, passwords included. */
  peersSecret: 'eip-admission-peers',
  /** In MetalLB's namespace: the password of its BGP sessions. */
  bgpSecret: 'eip-admission-bgp',
  ledgerConfigMap: 'eip-admission-ledger',
} as const

/** Who the process is to the API server. */
export function serviceAccountUser(namespace: string): string {
  return `system:serviceaccount:${namespace}:${names.serviceAccount}`
}
