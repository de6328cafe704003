/** What the API server knows our webhooks by; manifests are made from this. */
export type WebhookIdentity = { name: string; path: string; kind: 'mutating' | 'validating' }

export const reserveAddress = {
  name: 'reserve.eip-admission.dev',
  path: '/mutate-services',
  kind: 'mutating',
} as const satisfies WebhookIdentity

export const validateService = {
  name: 'validate.eip-admission.dev',
  path: '/validate-services',
  kind: 'validating',
} as const satisfies WebhookIdentity

export const webhookIdentities: WebhookIdentity[] = [reserveAddress, validateService]
