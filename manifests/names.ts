/** The names of the installed objects. The install command and the process share them. */
export const names = {
  serviceAccount: 'eip-admission',
  webhookService: 'eip-admission',
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
  ledgerConfigMap: 'eip-admission-ledger',
} as const

/** The user name of the process at the API server. */
export function serviceAccountUser(namespace: string): string {
  return `system:serviceaccount:${namespace}:${names.serviceAccount}`
}
