/** The name, the path and the rules of a webhook. The manifests are generated from it. */
export type WebhookIdentity = {
  name: string
  path: string
  kind: 'mutating' | 'validating'
  operations: ('CREATE' | 'UPDATE' | 'DELETE')[]
  resource: 'services' | 'services/status' | 'configmaps'
  /** Limits the webhook to objects with this label in our own namespace. Without it: Services in every other namespace. */
  label?: string
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

/** A write of the status can also change annotations, but the rules for `services` do not match it. */
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

/** Only our own probes call it. It shares a configuration with the others, so the API server treats it alike. */
export const answerProbe = {
  name: 'probe.eip-admission.dev',
  path: '/probe',
  kind: 'mutating',
  operations: ['CREATE'],
  resource: 'configmaps',
  label: 'eip-admission.dev/probe',
} satisfies WebhookIdentity

export const webhookIdentities: WebhookIdentity[] = [
  reserveAddress,
  validateService,
  validateServiceStatus,
  protectService,
  answerProbe,
]
