/** What the API server knows a webhook by, and what it sends there; manifests are made from this. */
export type WebhookIdentity = {
  name: string
  path: string
  kind: 'mutating' | 'validating'
  operations: ('CREATE' | 'UPDATE' | 'DELETE')[]
  resource: 'services' | 'services/status'
}

export const reserveAddress = {
  name: 'reserve.eip-admission.dev',
  path: '/mutate-services',
  kind: 'mutating',
  operations: ['CREATE', 'UPDATE'],
  resource: 'services',
} satisfies WebhookIdentity

export const validateService = {
  name: 'validate.eip-admission.dev',
  path: '/validate-services',
  kind: 'validating',
  operations: ['CREATE', 'UPDATE'],
  resource: 'services',
} satisfies WebhookIdentity

/** A write of the status may carry new annotations, past every rule for Services. */
export const validateServiceStatus = {
  name: 'validate-status.eip-admission.dev',
  path: '/validate-services-status',
  kind: 'validating',
  operations: ['UPDATE'],
  resource: 'services/status',
} satisfies WebhookIdentity

export const protectService = {
  name: 'protect.eip-admission.dev',
  path: '/protect-services',
  kind: 'validating',
  operations: ['DELETE'],
  resource: 'services',
} satisfies WebhookIdentity

export const webhookIdentities: WebhookIdentity[] = [
  reserveAddress,
  validateService,
  validateServiceStatus,
  protectService,
]
